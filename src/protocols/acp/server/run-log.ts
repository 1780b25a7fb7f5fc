import { AgentError, type Call, type EventOf, type OperationOf } from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";
import { lost } from "../codec/own.js";
import { oneEvent, sendEvents, taskOf } from "./asked.js";

type Events = AsyncGenerator<EventOf<"send">, void, void>;
type Subscribe = OperationOf<"task.subscribe">;

/** All events of a task. If there is no log, they are derived from the current task and the loss is reported. */
export function logOf(host: Host, call: Call, taskId: string): Events {
  return orElse(sendEvents(host.handler({ kind: "task.subscribe", taskId, follow: false }, call)), () =>
    standing(host, call, taskId),
  );
}

/**
 * The task as it stands, then everything that happens to it. One that has ended is told from its log; to whoever has seen
 * some of it, how it stands is all that is left to tell.
 */
export function followed(host: Host, call: Call, { taskId, after }: Omit<Subscribe, "kind" | "follow">): Events {
  return orElse(sendEvents(host.handler({ kind: "task.subscribe", taskId, after, follow: true }, call)), () =>
    after === undefined ? logOf(host, call, taskId) : standing(host, call, taskId),
  );
}

async function* standing(host: Host, call: Call, taskId: string): Events {
  const task = taskOf(await oneEvent(host.handler({ kind: "task.get", taskId }, call)));
  lost(
    (loss) => call.reportLoss(loss),
    "task.log",
    "array",
    "whoever works on it keeps no log; it is made from the task as it stands",
  );
  yield { kind: "task", task };
}

/** Falls back to the second source if the first is unsupported. */
async function* orElse(first: Events, second: () => Events): Events {
  let began = false;
  try {
    for await (const event of first) {
      began = true;
      yield event;
    }
    return;
  } catch (thrown) {
    const { code } = AgentError.from(thrown);
    if (began || (code !== "unsupported" && code !== "unsupported_method")) throw thrown;
  }
  yield* second();
}
