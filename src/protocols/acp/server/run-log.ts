import { AgentError, type Call, type EventOf, type OperationOf } from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";
import { reportLossAt } from "../codec/koine-members.js";
import { oneEvent, sendEvents, taskOf } from "./request-context.js";

type Events = AsyncGenerator<EventOf<"send">, void, void>;
type Subscribe = OperationOf<"task.subscribe">;

/** All events of a task. If there is no log, they are derived from the current task and the loss is reported. */
export function logOf(host: Host, call: Call, taskId: string): Events {
  return orElse(sendEvents(host.handler({ kind: "task.subscribe", taskId, follow: false }, call)), () =>
    standing(host, call, taskId),
  );
}

/**
 * The current task, then its further events. A finished task is read from its log; a client that resumes gets only its current
 * state.
 */
export function followed(host: Host, call: Call, { taskId, after }: Omit<Subscribe, "kind" | "follow">): Events {
  return orElse(sendEvents(host.handler({ kind: "task.subscribe", taskId, after, follow: true }, call)), () =>
    after === undefined ? logOf(host, call, taskId) : standing(host, call, taskId),
  );
}

async function* standing(host: Host, call: Call, taskId: string): Events {
  const task = taskOf(await oneEvent(host.handler({ kind: "task.get", taskId }, call)));
  reportLossAt(
    (loss) => call.reportLoss(loss),
    "task.log",
    "array",
    "the upstream keeps no log; it is derived from the current task",
  );
  yield { kind: "task", task };
}

/** Falls back to the second source if the first is unsupported. */
async function* orElse(first: Events, second: () => Events): Events {
  let started = false;
  try {
    for await (const event of first) {
      started = true;
      yield event;
    }
    return;
  } catch (thrown) {
    const { code } = AgentError.from(thrown);
    if (started || (code !== "unsupported" && code !== "unsupported_method")) throw thrown;
  }
  yield* second();
}
