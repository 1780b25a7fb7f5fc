import { AgentError } from "../envelope/index.js";
import { type AgentFunction, type AgentStream, isStream } from "../tasks/index.js";

/** Hears what went wrong inside: callers are told no more than that something did. */
export type OnError = (thrown: unknown) => void;

/** The agent as before, except that what it throws by mistake is heard of. One that was stopped may end as it likes. */
export function withErrorReporting(handle: AgentFunction, onError: OnError): AgentFunction {
  return (message, task) => {
    const tell = (thrown: unknown): never => {
      if (!(thrown instanceof AgentError) && !task.signal.aborted) onError(thrown);
      throw thrown;
    };
    try {
      const output = handle(message, task);
      if (isStream(output)) return tellingStream(output, tell);
      return output instanceof Promise ? output.catch(tell) : output;
    } catch (thrown) {
      return tell(thrown);
    }
  };
}

async function* tellingStream(output: AgentStream, tell: (thrown: unknown) => never): AgentStream {
  try {
    return yield* output;
  } catch (thrown) {
    return tell(thrown);
  }
}
