import {
  AgentError,
  type AgentEvent,
  ANSWERS,
  type EventKind,
  isClosing,
  type Layer,
  type Operation,
} from "../envelope/index.js";
import { around } from "./around.js";

interface Checked {
  readonly operation: Operation;
  readonly allowed: readonly EventKind[];
  seen: boolean;
  closed: boolean;
}

/**
 * For protocol clients: an event kind that does not match the operation is reported as `bad_peer`, and a stream
 * that ends before its answer is complete as `interrupted`.
 */
export function checkAnswers(): Layer {
  return around<Checked>({
    begin: (operation) => ({ operation, allowed: ANSWERS[operation.kind], seen: false, closed: false }),
    event(checked, event) {
      if (!checked.allowed.includes(event.kind))
        throw new AgentError("bad_peer", `the peer answered ${checked.operation.kind} with ${event.kind}`, { sent: "maybe" });
      checked.seen = true;
      checked.closed = closedAfter(checked.closed, event);
    },
    end(checked, outcome) {
      if (outcome.kind !== "ended" || outcome.shape === "one" || isComplete(checked)) return;
      throw new AgentError("interrupted", "the stream ended before the answer was complete", { sent: "maybe" });
    },
  });
}

/** An artifact does not change the state. */
function closedAfter(closedBefore: boolean, event: AgentEvent): boolean {
  return event.kind === "artifact" ? closedBefore : isClosing(event);
}

function isComplete({ operation, seen, closed }: Checked): boolean {
  switch (operation.kind) {
    case "send":
      return operation.delivery === "accepted" ? seen : closed;
    case "task.subscribe":
      // Without following, the log may end anywhere, and may be empty after the cursor.
      return operation.follow ? closed : true;
    default:
      return seen;
  }
}
