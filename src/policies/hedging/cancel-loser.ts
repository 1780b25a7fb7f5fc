import {
  AgentError,
  type AgentEvent,
  type Call,
  CancelSource,
  type ErrorCode,
  type Handler,
  isTerminal,
  type Maybe,
  type Operation,
  startCall,
} from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { stopIterator } from "../replies/iterators.js";
import { onlyEvent, replyOf } from "../replies/shape.js";
import { taskIdIn, taskIdOf } from "../task-id.js";
import type { HedgeAttempt } from "./race.js";

/** The attempt to cancel, and the call it belongs to. */
export interface CallOff {
  readonly loser: HedgeAttempt;
  readonly operation: Operation;
  readonly call: Call;
  /** The task of the winning attempt, if any. */
  readonly keep: Maybe<string>;
  readonly canceller: Handler;
  readonly clock: Clock;
  readonly limitMs: number;
}

/**
 * Cancels the losing attempt. Closing the connection does not stop the work: where the attempt may have created a task, its
 * first event is awaited and the task it names is cancelled, unless it is the winner's own (a peer starts one task per key).
 * Ends after `limitMs`. Returns the error if work may still be running.
 */
export async function callOff(off: CallOff): Promise<Maybe<AgentError>> {
  const { loser, operation, clock, limitMs } = off;
  if (!mayMakeTask(operation)) {
    abandon(loser);
    return undefined;
  }
  const late = new CancelSource();
  const cancelTimer = clock.after(limitMs, () =>
    late.cancel(new AgentError("deadline", `the losing attempt was not cancelled within ${limitMs} ms`, { sent: "maybe" })),
  );
  try {
    const taskId = await unlessLate(runningTask(loser), late);
    if (taskId !== undefined && taskId !== off.keep) await unlessLate(cancelTask(off, taskId, late), late);
    return undefined;
  } catch (thrown) {
    const error = AgentError.from(thrown);
    return HAS_ENDED.has(error.code) ? undefined : error;
  } finally {
    cancelTimer();
    abandon(loser);
  }
}

/** Refusals to cancel that mean there is nothing to cancel. */
const HAS_ENDED: ReadonlySet<ErrorCode> = new Set(["not_cancelable", "task_closed", "task_not_found"]);

/** Only a new message creates a task; other operations refer to tasks that others may need. */
function mayMakeTask(operation: Operation): boolean {
  return operation.kind === "send" && taskIdOf(operation) === undefined;
}

/** The running task that the first event names. A failed attempt names none. */
async function runningTask({ first }: HedgeAttempt): Promise<Maybe<string>> {
  const step = await first?.catch(() => undefined);
  return step === undefined || step.done === true || hasEnded(step.value) ? undefined : taskIdIn(step.value);
}

function hasEnded(event: AgentEvent): boolean {
  if (event.kind === "task") return isTerminal(event.task.status.state);
  return event.kind === "status" && isTerminal(event.status.state);
}

function cancelTask({ canceller, call, clock, limitMs }: CallOff, taskId: string, late: CancelSource): Promise<AgentEvent> {
  const { agent, caller, credential, via, parameters, hops, floor } = call;
  // Not derived from the caller's call: that call may have ended already.
  const own = startCall({
    agent,
    caller,
    credential,
    via,
    parameters,
    hops,
    floor,
    deadline: clock.now() + limitMs,
    cancel: late,
  });
  return onlyEvent(replyOf(canceller, { kind: "task.cancel", taskId }, own));
}

function abandon({ cancel, source }: HedgeAttempt): void {
  cancel.cancel(new AgentError("cancelled", "another attempt answered first"));
  stopIterator(source);
}

function unlessLate<T>(wait: Promise<T>, late: CancelSource): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = late.onCancel(reject);
    wait.then(resolve, reject).finally(forget);
  });
}
