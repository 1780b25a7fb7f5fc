import {
  AgentError,
  type Call,
  type Event,
  type EventOf,
  isTerminal,
  type OperationOf,
  type TaskEvent,
} from "../envelope/index.js";
import { placeOf } from "./cursor.js";
import { EventStream } from "./event-stream.js";
import { JournalReader, type Reading } from "./journal-reader.js";
import { checkHistoryLength, taskNotFound } from "./refusals.js";
import { taskEvent, withHistory } from "./send.js";
import type { Snapshot } from "./store.js";
import type { Workplace } from "./workplace.js";

/** The task as it stands. */
export async function getTask(place: Workplace, operation: OperationOf<"task.get">, call: Call): Promise<Event> {
  checkHistoryLength(operation.historyLength);
  return taskEvent(place, await snapshotOf(place, operation.taskId, call), operation.historyLength);
}

/** One page of the caller's own tasks. */
export async function listTasks(
  place: Workplace,
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
export async function cancelTask(place: Workplace, { taskId }: OperationOf<"task.cancel">, call: Call): Promise<Event> {
  const { owner } = call.caller;
  const asked = await place.store.requestCancel(taskId, owner);
  if (asked === undefined) throw taskNotFound(taskId);
  if (asked.outcome === "told") await stopped(place, taskId, call);
  const snapshot = await snapshotOf(place, taskId, call);
  const { status } = snapshot.task;
  if (asked.outcome === "canceled") await place.notify(taskId, owner, [statusOf(snapshot)]);
  if (isTerminal(status.state) && status.state !== "canceled") {
    throw new AgentError("not_cancelable", `the task is ${status.state}`, { detail: { taskId } });
  }
  return taskEvent(place, snapshot, undefined);
}

/** Our own run ends at once. A holder elsewhere learns of it by its next write or renewal. */
async function stopped(place: Workplace, taskId: string, call: Call): Promise<void> {
  const run = place.runs.get(taskId);
  if (run !== undefined) return run.stop("canceled", new AgentError("cancelled", "the task was canceled"));
  const now = await snapshotOf(place, taskId, call);
  if (isTerminal(now.task.status.state)) return;
  const reading = { taskId, owner: call.caller.owner, after: now.seq, first: undefined, endsAt: isTerminal, follow: true };
  const reader = new JournalReader(place, reading, call);
  const enough = place.timers.after(place.limits.cancelGraceMs, () => void reader.return());
  for (let step = await reader.next(); step.done !== true; step = await reader.next());
  enough();
}

/** The task, then what happens to it. With a cursor: the task as its reader left it, then all it has missed. */
export function subscribe(place: Workplace, operation: OperationOf<"task.subscribe">, call: Call): EventStream {
  return new EventStream(async () => new JournalReader(place, await readingOf(place, operation, call), call));
}

async function readingOf(place: Workplace, operation: OperationOf<"task.subscribe">, call: Call): Promise<Reading> {
  const { taskId, follow, after } = operation;
  const { owner } = call.caller;
  const reading = { taskId, owner, endsAt: isTerminal, follow };
  if (after !== undefined) {
    const then = await snapshotAt(place, taskId, after, call);
    return { ...reading, after: then.seq, first: taskEvent(place, then, undefined) };
  }
  const now = await snapshotOf(place, taskId, call);
  // The log begins with the task itself.
  if (!follow) return { ...reading, after: 0, first: undefined };
  if (isTerminal(now.task.status.state)) throw new AgentError("unsupported", "the task is finished", { detail: { taskId } });
  return { ...reading, after: now.seq, first: taskEvent(place, now, undefined) };
}

async function snapshotOf(place: Workplace, taskId: string, call: Call): Promise<Snapshot> {
  const snapshot = await place.store.snapshot(taskId, call.caller.owner);
  if (snapshot === undefined) throw taskNotFound(taskId);
  return snapshot;
}

/** Never a silent gap: what is not kept any more is said to be so. */
async function snapshotAt(place: Workplace, taskId: string, cursor: string, call: Call): Promise<Snapshot> {
  const { owner } = call.caller;
  const at = placeOf(cursor, place.limits.cursorBytes);
  const facts = await place.store.facts(taskId, owner);
  if (facts === undefined) throw taskNotFound(taskId);
  if (at.taskId !== taskId || at.seq > facts.seq) {
    throw new AgentError("invalid_message", "after: is not a cursor of this task", { field: "after" });
  }
  const page = await place.store.read(taskId, owner, at.seq, 1);
  const snapshot = page === undefined || at.seq < page.firstKept ? undefined : await place.store.snapshot(taskId, owner, at.seq);
  if (snapshot === undefined)
    throw new AgentError("expired", "the entries after this cursor are no longer kept", { detail: { taskId } });
  return snapshot;
}

function statusOf({ task }: Snapshot): TaskEvent {
  return { kind: "status", taskId: task.id, contextId: task.contextId, status: task.status };
}
