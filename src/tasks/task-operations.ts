import {
  AgentError,
  type AgentEvent,
  authoredRequests,
  type Call,
  type EventOf,
  isInterrupted,
  isTerminal,
  type Maybe,
  type OperationOf,
} from "../envelope/index.js";
import { EventStream } from "./event-stream.js";
import { forwardedAnswer, forwardedOr } from "./forwarded.js";
import { JournalReader, type Reading } from "./journal-reader.js";
import { snapshotAtCursor, snapshotOf } from "./read-snapshot.js";
import { checkHistoryLength, taskNotFound } from "./refusals.js";
import type { RuntimeContext } from "./runtime-context.js";
import { taskEvent, withHistory } from "./send.js";

/** Returns the task. */
export async function getTask(context: RuntimeContext, operation: OperationOf<"task.get">, call: Call): Promise<AgentEvent> {
  checkHistoryLength(operation.historyLength);
  const answer = await forwardedAnswer(context, operation, call);
  if (answer !== undefined) return answer;
  return taskEvent(context, await snapshotOf(context, operation.taskId, call.caller.owner), operation.historyLength);
}

/** One page of the caller's own tasks. */
export async function listTasks(
  context: RuntimeContext,
  operation: OperationOf<"task.list">,
  call: Call,
): Promise<EventOf<"task.list">> {
  checkHistoryLength(operation.historyLength);
  const { pageSize, artifacts = false, historyLength } = operation;
  const most = context.limits.pageSize;
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= most)) {
    throw new AgentError("invalid_message", `pageSize: must be 1 to ${most}`, { field: "pageSize" });
  }
  const { owner } = call.caller;
  context.lists.check(owner);
  context.lists.enter(owner);
  const page = await context.store.list(owner, operation).finally(() => context.lists.leave(owner));
  const tasks = page.tasks.map((task) => {
    const shown = withHistory(task, historyLength, context);
    return artifacts ? shown : { ...shown, artifacts: [] };
  });
  return { ...page, tasks };
}

/** Terminal states are final: a finished task cannot be canceled, a canceled one stays canceled (A2A 1.0 §3.3.1). */
export async function cancelTask(
  context: RuntimeContext,
  operation: OperationOf<"task.cancel">,
  call: Call,
): Promise<AgentEvent> {
  const { taskId, onlyOnce } = operation;
  const { owner } = call.caller;
  const elsewhere = await canceledElsewhere(context, operation, call);
  const requested = await context.store.requestCancel(taskId, owner);
  if (requested === undefined) throw taskNotFound(taskId);
  if (requested.outcome === "notified") await stopped(context, taskId, call);
  const snapshot = await snapshotOf(context, taskId, call.caller.owner);
  const { status } = snapshot.task;
  if (requested.outcome === "canceled") context.push?.nudge();
  const wasCanceled = requested.outcome === "closed" && status.state === "canceled";
  if (
    isTerminal(status.state) &&
    (status.state !== "canceled" || (wasCanceled && onlyOnce === true && elsewhere === undefined))
  ) {
    throw new AgentError("not_cancelable", `the task is ${status.state}`, { detail: { taskId } });
  }
  return elsewhere?.answer ?? taskEvent(context, snapshot, undefined);
}

/** Cancels the work on the upstream first, if the agent has one; its last events may still arrive here. */
async function canceledElsewhere(
  context: RuntimeContext,
  operation: OperationOf<"task.cancel">,
  call: Call,
): Promise<Maybe<{ readonly answer: Maybe<AgentEvent> }>> {
  const { taskId } = operation;
  const facts = await context.store.facts(taskId, call.caller.owner);
  if (facts?.saved === undefined || isTerminal(facts.state)) return undefined;
  const agent = context.agents.get(facts.agent);
  if (agent?.cancel === undefined) return undefined;
  const answer = await forwardedAnswer(context, operation, call);
  if (answer === undefined) await agent.cancel(facts.saved, call);
  if (!isInterrupted(facts.state)) await ended(context, taskId, facts.seq, call);
  return { answer };
}

/** Stops a local run at once. Another holder sees the request in its next write or renewal. */
async function stopped(context: RuntimeContext, taskId: string, call: Call): Promise<void> {
  const run = context.runs.get(taskId);
  if (run !== undefined) return run.stop("canceled", new AgentError("cancelled", "the task was canceled"));
  const now = await snapshotOf(context, taskId, call.caller.owner);
  if (!isTerminal(now.task.status.state)) await ended(context, taskId, now.seq, call);
}

/** Waits for the task to end, at most `cancelGraceMs`. */
async function ended(context: RuntimeContext, taskId: string, after: number, call: Call): Promise<void> {
  const reading = { taskId, owner: call.caller.owner, after, first: undefined, endsAt: isTerminal, follow: true };
  const reader = new JournalReader(context, reading, call);
  const enough = context.timers.after(context.limits.cancelGraceMs, () => void reader.return());
  for (let step = await reader.next(); step.done !== true; step = await reader.next());
  enough();
}

/** The task, then its events. With a cursor: the task at the cursor, then every later entry. */
export function subscribe(
  context: RuntimeContext,
  operation: OperationOf<"task.subscribe">,
  call: Call,
): AsyncIterable<AgentEvent> {
  const own = (): EventStream => journalOf(context, operation, call);
  return authoredRequests.of(call) === undefined ? own() : forwardedOr(context, operation, call, own);
}

function journalOf(context: RuntimeContext, operation: OperationOf<"task.subscribe">, call: Call): EventStream {
  return new EventStream(async () => new JournalReader(context, await readingOf(context, operation, call), call));
}

async function readingOf(context: RuntimeContext, operation: OperationOf<"task.subscribe">, call: Call): Promise<Reading> {
  const { taskId, follow, after } = operation;
  const { owner } = call.caller;
  const reading = { taskId, owner, endsAt: isTerminal, follow };
  if (after !== undefined) {
    const then = await snapshotAtCursor(context, taskId, after, call);
    return { ...reading, after: then.seq, first: taskEvent(context, then, undefined) };
  }
  const now = await snapshotOf(context, taskId, call.caller.owner);
  // The log begins with the task itself.
  if (!follow) return { ...reading, after: 0, first: undefined };
  if (isTerminal(now.task.status.state)) throw new AgentError("unsupported", "the task is finished", { detail: { taskId } });
  return { ...reading, after: now.seq, first: taskEvent(context, now, undefined) };
}
