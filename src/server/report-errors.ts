import { AgentError } from "../envelope/index.js";
import { type AgentFunction, type AgentStream, isStream } from "../tasks/index.js";

/** Called with internal errors; callers see only that the call failed. */
export type OnError = (thrown: unknown) => void;

/** Reports what an agent throws, except for `AgentError` and errors after a cancel. */
export function withErrorReporting(handle: AgentFunction, onError: OnError): AgentFunction {
  return (message, task) => {
    const report = (thrown: unknown): never => {
      if (!(thrown instanceof AgentError) && !task.signal.aborted) onError(thrown);
      throw thrown;
    };
    try {
      const output = handle(message, task);
      if (isStream(output)) return reportingStream(output, report);
      return output instanceof Promise ? output.catch(report) : output;
    } catch (thrown) {
      return report(thrown);
    }
  };
}

async function* reportingStream(output: AgentStream, report: (thrown: unknown) => never): AgentStream {
  try {
    return yield* output;
  } catch (thrown) {
    return report(thrown);
  }
}
