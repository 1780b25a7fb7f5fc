import {
  AgentError,
  type AgentEvent,
  type Call,
  type Cursor,
  isInterrupted,
  isTerminal,
  type Maybe,
  type OperationOf,
  type Reply,
  type State,
  type Task,
} from "../envelope/index.js";
import { BareReply, firstTurn } from "./bare-reply.js";
import { cursorOf, journalPositionOf } from "./cursor.js";
import { EventStream } from "./event-stream.js";
import { followUp } from "./follow-up.js";
import { endsSendStream, JournalReader } from "./journal-reader.js";
import { requirePush } from "./push-configs.js";
import { asOurs, checkHistoryLength, rethrowOurs, taskNotFound } from "./refusals.js";
import { Run } from "./run.js";
import type { RuntimeContext } from "./runtime-context.js";
import { snapshotBehind } from "./snapshot-behind.js";
import { type Asking, Existing, type NamedAgent, startTask } from "./start-task.js";
import type { Snapshot } from "./store.js";
import { ttlOf } from "./turn.js";
import { waitFor } from "./wait.js";

type Send = OperationOf<"send">;
/** A bare message, the run of a task of ours, or a task that was there. */
type Opened = AgentEvent | Run | Existing;

/** A message to an agent: one event back, or a stream of them. */
export function send(place: RuntimeContext, operation: Send, call: Call): Reply {
  switch (operation.delivery) {
    case "answer":
      return answer(place, operation, call);
    case "accepted":
      return accept(place, operation, call).catch(rethrowOurs);
    case "stream":
      return new EventStream(() => openStream(place, operation, call));
    default:
      return operation.delivery satisfies never;
  }
}

async function answer(place: RuntimeContext, operation: Send, call: Call): Promise<AgentEvent> {
  try {
    const opened = await open(place, operation, call);
    if (opened instanceof Run) return await answerOfRun(place, opened, operation, call);
    return opened instanceof Existing ? await settled(place, opened, operation, call) : opened;
  } catch (thrown) {
    throw asOurs(thrown);
  }
}

/** Waits for the run itself: nothing is read from the journal but the end. */
async function answerOfRun(place: RuntimeContext, run: Run, operation: Send, call: Call): Promise<AgentEvent> {
  const { taskId, owner } = run;
  const seq = await waitFor(place, run.done, call);
  if (seq === undefined) return settled(place, new Existing(taskId, owner), operation, call);
  const snapshot = run.outcome === undefined ? await place.store.snapshot(taskId, owner, seq) : { task: run.outcome, seq };
  if (snapshot === undefined) throw gone(taskId);
  return taskEvent(place, snapshot, operation.historyLength);
}

async function accept(place: RuntimeContext, operation: Send, call: Call): Promise<AgentEvent> {
  const opened = await open(place, operation, call);
  if (opened instanceof Run) return taskEvent(place, { task: opened.opening, seq: opened.openingSeq }, operation.historyLength);
  return opened instanceof Existing ? taskEvent(place, await snapshotOf(place, opened), operation.historyLength) : opened;
}

/** Waits until the task is over or waits for its caller, whoever runs it. */
async function settled(place: RuntimeContext, existing: Existing, operation: Send, call: Call): Promise<AgentEvent> {
  const { taskId, owner } = existing;
  const now = await snapshotOf(place, existing);
  if (isSettled(now.task.status.state)) return taskEvent(place, now, operation.historyLength);
  const reading = { taskId, owner, after: now.seq, first: undefined, endsAt: isSettled, follow: true };
  const reader = new JournalReader(place, reading, call);
  for (let step = await reader.next(); step.done !== true; step = await reader.next());
  const then = await place.store.snapshot(taskId, owner, reader.after);
  if (then === undefined) throw gone(taskId);
  return taskEvent(place, then, operation.historyLength);
}

/** Not async itself: the bare reply is the hot path, and every async frame on it costs. */
function open(place: RuntimeContext, operation: Send, call: Call): Promise<Opened> {
  if (place.closing) throw new AgentError("unavailable", "the agent is shutting down");
  const { context } = operation.envelope;
  if (operation.historyLength !== undefined) checkHistoryLength(operation.historyLength);
  if (operation.push !== undefined) requirePush(place);
  if (context.taskId !== undefined) return followUp(place, operation, call);
  const asking = { operation, call, named: agentNamed(place, call.agent), sessionId: context.sessionId ?? place.ids.newId() };
  return needsTask(operation) ? openTask(place, asking) : new BareReply(place, asking).begin();
}

async function openTask(place: RuntimeContext, asking: Asking): Promise<Opened> {
  ttlOf(asking.operation.envelope);
  const opened = await startTask(place, asking, firstTurn(place, asking));
  if (opened instanceof Run) opened.begin();
  return opened;
}

/** Something must hold what the caller wants to come back to. */
function needsTask({ task, delivery, push, envelope }: Send): boolean {
  return task === "always" || delivery === "accepted" || push !== undefined || envelope.context.idempotencyKey !== undefined;
}

/** The agent that is meant; no name means the first. */
function agentNamed(place: RuntimeContext, wanted: string): NamedAgent {
  const agent = place.agents.get(wanted);
  if (agent !== undefined) return { name: wanted, agent };
  if (wanted === "") for (const [name, first] of place.agents) return { name, agent: first };
  throw new AgentError("not_found", "no such agent is served here");
}

/** The events of a send as they are journaled, from the task itself on; or the one bare message. */
async function openStream(place: RuntimeContext, operation: Send, call: Call): Promise<JournalReader | AgentEvent> {
  if (operation.after !== undefined) return takeUp(place, operation.after, call);
  const opened = await open(place, operation, call);
  if (!(opened instanceof Run || opened instanceof Existing)) return opened;
  const { taskId, owner } = opened;
  const from = opened instanceof Run ? { task: opened.opening, seq: opened.openingSeq } : await snapshotOf(place, opened);
  const first = taskEvent(place, from, operation.historyLength);
  if (endsSendStream(from.task.status.state)) return first;
  return new JournalReader(place, { taskId, owner, after: from.seq, first, endsAt: endsSendStream, follow: true }, call);
}

/** The rest of a stream that a send has opened before: the task as its reader left it, then all it has missed. */
async function takeUp(place: RuntimeContext, after: Cursor, call: Call): Promise<JournalReader> {
  const { taskId } = journalPositionOf(after, place.limits.cursorBytes);
  const then = await snapshotBehind(place, taskId, after, call);
  const first = taskEvent(place, then, undefined);
  const { owner } = call.caller;
  return new JournalReader(place, { taskId, owner, after: then.seq, first, endsAt: endsSendStream, follow: true }, call);
}

function isSettled(state: State): boolean {
  return isTerminal(state) || isInterrupted(state);
}

async function snapshotOf(place: RuntimeContext, { taskId, owner }: Existing): Promise<Snapshot> {
  const snapshot = await place.store.snapshot(taskId, owner);
  if (snapshot === undefined) throw taskNotFound(taskId);
  return snapshot;
}

/** A snapshot as the caller wants to see it. */
export function taskEvent(
  place: RuntimeContext,
  { task, seq }: Snapshot,
  historyLength: Maybe<number>,
): AgentEvent & { readonly kind: "task" } {
  return { kind: "task", task: withHistory(task, historyLength, place), head: undefined, cursor: cursorOf(task.id, seq) };
}

/** At most the newest `historyLength` messages, and never more than the limit. */
export function withHistory(task: Task, historyLength: Maybe<number>, { limits }: RuntimeContext): Task {
  const most = Math.min(historyLength ?? limits.historyPerTask, limits.historyPerTask);
  if (task.history.length <= most) return task;
  return { ...task, history: most === 0 ? [] : task.history.slice(-most) };
}

function gone(taskId: string): AgentError {
  return new AgentError("expired", "the task is no longer kept", { detail: { taskId } });
}
