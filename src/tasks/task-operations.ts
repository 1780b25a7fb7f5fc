import {
  AgentError,
  type AgentEvent,
  type Call,
  type EventOf,
  isInterrupted,
  isTerminal,
  type OperationOf,
} from "../envelope/index.js";
import { EventStream } from "./event-stream.js";
import { JournalReader, type Reading } from "./journal-reader.js";
import { checkHistoryLength, taskNotFound } from "./refusals.js";
import type { RuntimeContext } from "./runtime-context.js";
import { taskEvent, withHistory } from "./send.js";
import { snapshotBehind } from "./snapshot-behind.js";
import type { Snapshot } from "./store.js";

/** The task as it stands. */
export async function getTask(place: RuntimeContext, operation: OperationOf<"task.get">, call: Call): Promise<AgentEvent> {
  checkHistoryLength(operation.historyLength);
  return taskEvent(place, await snapshotOf(place, operation.taskId, call), operation.historyLength);
}

/** One page of the caller's own tasks. */
export async function listTasks(
  place: RuntimeContext,
  operation: OperationOf<"task.list">,
  call: Call,
): Promise<EventOf<"task.list">> {
  checkHistoryLength(operation.historyLength);
  const { pageSize, artifacts = false, historyLength } = operation;
  const most = place.limits.pageSize;
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= most)) {
    throw new AgentError("invalid_message", `pageSize: must be 1 to ${most}`, { field: "pageSize" });
  }
  const page = await place.store.list(call.caller.owner, operation);
  const tasks = page.tasks.map((task) => {
    const shown = withHistory(task, historyLength, place);
    return artifacts ? shown : { ...shown, artifacts: [] };
  });
  return { ...page, tasks };
}

/** Terminal is final: an ended task is not canceled, a canceled one stays as it is (A2A 1.0 §3.3.1). */
export async function cancelTask(place: RuntimeContext, operation: OperationOf<"task.cancel">, call: Call): Promise<AgentEvent> {
  const { taskId, onlyOnce } = operation;
  const { owner } = call.caller;
  const elsewhere = await canceledElsewhere(place, taskId, call);
  const asked = await place.store.requestCancel(taskId, owner);
  if (asked === undefined) throw taskNotFound(taskId);
  if (asked.outcome === "told") await stopped(place, taskId, call);
  const snapshot = await snapshotOf(place, taskId, call);
  const { status } = snapshot.task;
  if (asked.outcome === "canceled") place.push?.nudge();
  const wasCanceled = asked.outcome === "closed" && status.state === "canceled";
  if (isTerminal(status.state) && (status.state !== "canceled" || (wasCanceled && onlyOnce === true && !elsewhere))) {
    throw new AgentError("not_cancelable", `the task is ${status.state}`, { detail: { taskId } });
  }
  return taskEvent(place, snapshot, undefined);
}

/** The work of some agents is done elsewhere: it is stopped there first, and what comes of that may still be told here. */
async function canceledElsewhere(place: RuntimeContext, taskId: string, call: Call): Promise<boolean> {
  const facts = await place.store.facts(taskId, call.caller.owner);
  if (facts?.saved === undefined || isTerminal(facts.state)) return false;
  const agent = place.agents.get(facts.agent);
  if (agent?.cancel === undefined) return false;
  await agent.cancel(facts.saved, call);
  if (!isInterrupted(facts.state)) await ended(place, taskId, facts.seq, call);
  return true;
}

/** Our own run ends at once. A holder elsewhere learns of it by its next write or renewal. */
async function stopped(place: RuntimeContext, taskId: string, call: Call): Promise<void> {
  const run = place.runs.get(taskId);
  if (run !== undefined) return run.stop("canceled", new AgentError("cancelled", "the task was canceled"));
  const now = await snapshotOf(place, taskId, call);
  if (!isTerminal(now.task.status.state)) await ended(place, taskId, now.seq, call);
}

/** Waits for the end of a task behind this entry, but not for long. */
async function ended(place: RuntimeContext, taskId: string, after: number, call: Call): Promise<void> {
  const reading = { taskId, owner: call.caller.owner, after, first: undefined, endsAt: isTerminal, follow: true };
  const reader = new JournalReader(place, reading, call);
  const enough = place.timers.after(place.limits.cancelGraceMs, () => void reader.return());
  for (let step = await reader.next(); step.done !== true; step = await reader.next());
  enough();
}

/** The task, then what happens to it. With a cursor: the task as its reader left it, then all it has missed. */
export function subscribe(place: RuntimeContext, operation: OperationOf<"task.subscribe">, call: Call): EventStream {
  return new EventStream(async () => new JournalReader(place, await readingOf(place, operation, call), call));
}

async function readingOf(place: RuntimeContext, operation: OperationOf<"task.subscribe">, call: Call): Promise<Reading> {
  const { taskId, follow, after } = operation;
  const { owner } = call.caller;
  const reading = { taskId, owner, endsAt: isTerminal, follow };
  if (after !== undefined) {
    const then = await snapshotBehind(place, taskId, after, call);
    return { ...reading, after: then.seq, first: taskEvent(place, then, undefined) };
  }
  const now = await snapshotOf(place, taskId, call);
  // The log begins with the task itself.
  if (!follow) return { ...reading, after: 0, first: undefined };
  if (isTerminal(now.task.status.state)) throw new AgentError("unsupported", "the task is finished", { detail: { taskId } });
  return { ...reading, after: now.seq, first: taskEvent(place, now, undefined) };
}

async function snapshotOf(place: RuntimeContext, taskId: string, call: Call): Promise<Snapshot> {
  const snapshot = await place.store.snapshot(taskId, call.caller.owner);
  if (snapshot === undefined) throw taskNotFound(taskId);
  return snapshot;
}
