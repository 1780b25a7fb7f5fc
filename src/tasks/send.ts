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
import { JournalReader } from "./journal-reader.js";
import { requirePush } from "./push-configs.js";
import { snapshotAtCursor, snapshotOf } from "./read-snapshot.js";
import { asAgentError, checkHistoryLength, rethrowAsAgentError } from "./refusals.js";
import { Run } from "./run.js";
import type { RuntimeContext } from "./runtime-context.js";
import { Existing, type NamedAgent, type SendRequest, startTask } from "./start-task.js";
import type { Snapshot } from "./store.js";
import { ttlOf } from "./turn.js";
import { onCallAborted } from "./wait.js";

type Send = OperationOf<"send">;
/** A bare message, a new run, or an existing task. */
type Opened = AgentEvent | Run | Existing;

/** A message to an agent: one event back, or a stream of them. */
export function send(context: RuntimeContext, operation: Send, call: Call): Reply {
  switch (operation.delivery) {
    case "answer":
      return answer(context, operation, call);
    case "accepted":
      return accept(context, operation, call).catch(rethrowAsAgentError);
    case "stream":
      return new EventStream(() => openStream(context, operation, call));
    default:
      return operation.delivery satisfies never;
  }
}

async function answer(context: RuntimeContext, operation: Send, call: Call): Promise<AgentEvent> {
  try {
    const opened = await open(context, operation, call);
    if (opened instanceof Run) return await answerOfRun(context, opened, operation, call);
    return opened instanceof Existing ? await settled(context, opened, operation, call) : opened;
  } catch (thrown) {
    throw asAgentError(thrown);
  }
}

/** Waits for the run itself and reads only the final snapshot. */
async function answerOfRun(context: RuntimeContext, run: Run, operation: Send, call: Call): Promise<AgentEvent> {
  const { taskId, owner } = run;
  if (run.stored !== undefined) await run.stored;
  const seq = await endOf(context, run, call);
  if (seq === undefined) return settled(context, new Existing(taskId, owner), operation, call);
  const task = run.outcome;
  const snapshot = task === undefined ? await context.store.snapshot(taskId, owner, seq) : { task, seq };
  if (snapshot === undefined) throw gone(taskId);
  return taskEvent(context, snapshot, operation.historyLength);
}

/** The entry that ended the run, or a rejection when the call is cancelled or its deadline passes. The work continues either way. */
function endOf(context: RuntimeContext, run: Run, call: Call): Promise<Maybe<number>> {
  return new Promise((resolve, reject) => {
    const release = onCallAborted(context, call, reject);
    run.onDone((seq) => {
      release();
      resolve(seq);
    });
  });
}

async function accept(context: RuntimeContext, operation: Send, call: Call): Promise<AgentEvent> {
  const opened = await open(context, operation, call);
  if (opened instanceof Run) return taskEvent(context, { task: opened.opening, seq: opened.openingSeq }, operation.historyLength);
  return opened instanceof Existing
    ? taskEvent(context, await snapshotOf(context, opened.taskId, opened.owner), operation.historyLength)
    : opened;
}

/** Waits until the task is terminal or interrupted, whichever process runs it. */
async function settled(context: RuntimeContext, existing: Existing, operation: Send, call: Call): Promise<AgentEvent> {
  const { taskId, owner } = existing;
  const now = await snapshotOf(context, taskId, owner);
  if (isSettled(now.task.status.state)) return taskEvent(context, now, operation.historyLength);
  const reading = { taskId, owner, after: now.seq, first: undefined, endsAt: isSettled, follow: true };
  const reader = new JournalReader(context, reading, call);
  for (let step = await reader.next(); step.done !== true; step = await reader.next());
  const then = await context.store.snapshot(taskId, owner, reader.after);
  if (then === undefined) throw gone(taskId);
  return taskEvent(context, then, operation.historyLength);
}

/** Not async itself: the bare reply is the hot path, and every async frame on it costs. */
function open(context: RuntimeContext, operation: Send, call: Call): Promise<Opened> {
  if (context.closing) throw new AgentError("unavailable", "the agent is shutting down");
  const { taskId, sessionId } = operation.envelope.context;
  if (operation.historyLength !== undefined) checkHistoryLength(operation.historyLength);
  if (operation.push !== undefined) requirePush(context);
  if (taskId !== undefined) return followUp(context, operation, call);
  const request = {
    operation,
    call,
    named: agentNamed(context, call.agent),
    sessionId: sessionId ?? context.ids.newId(),
  };
  return needsTask(operation) ? openTask(context, request) : new BareReply(context, request).begin();
}

async function openTask(context: RuntimeContext, request: SendRequest): Promise<Opened> {
  ttlOf(request.operation.envelope);
  const opened = await startTask(context, request, firstTurn(context, request));
  if (opened instanceof Run) opened.begin();
  return opened;
}

/** True if the caller needs a task to return to. */
function needsTask({ task, delivery, push, envelope }: Send): boolean {
  return task === "always" || delivery === "accepted" || push !== undefined || envelope.context.idempotencyKey !== undefined;
}

/** The named agent; an empty name means the first. */
function agentNamed(context: RuntimeContext, wanted: string): NamedAgent {
  const agent = context.agents.get(wanted);
  if (agent !== undefined) return { name: wanted, agent };
  if (wanted === "") for (const [name, first] of context.agents) return { name, agent: first };
  throw new AgentError("not_found", "unknown agent");
}

/** The journal of a send, beginning with the task; or one bare message. */
async function openStream(context: RuntimeContext, operation: Send, call: Call): Promise<JournalReader | AgentEvent> {
  if (operation.after !== undefined) return resumeStream(context, operation.after, call);
  const opened = await open(context, operation, call);
  if (!(opened instanceof Run || opened instanceof Existing)) return opened;
  const { taskId, owner } = opened;
  const from =
    opened instanceof Run
      ? { task: opened.opening, seq: opened.openingSeq }
      : await snapshotOf(context, opened.taskId, opened.owner);
  const first = taskEvent(context, from, operation.historyLength);
  if (endsSendStream(from.task.status.state)) return first;
  return new JournalReader(context, { taskId, owner, after: from.seq, first, endsAt: endsSendStream, follow: true }, call);
}

/** Resumes the stream of an earlier send: the task at the cursor, then every later entry. */
async function resumeStream(context: RuntimeContext, after: Cursor, call: Call): Promise<JournalReader> {
  const { taskId } = journalPositionOf(after, context.limits.cursorBytes);
  const then = await snapshotAtCursor(context, taskId, after, call);
  const first = taskEvent(context, then, undefined);
  const { owner } = call.caller;
  return new JournalReader(context, { taskId, owner, after: then.seq, first, endsAt: endsSendStream, follow: true }, call);
}

/** States that end the stream of a send. A2A 1.0 §7.6.1 keeps it open while authorization is pending. */
function endsSendStream(state: State): boolean {
  return isTerminal(state) || state === "input-required";
}

function isSettled(state: State): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** A snapshot as an event, with the requested history length. */
export function taskEvent(
  context: RuntimeContext,
  { task, seq }: Snapshot,
  historyLength: Maybe<number>,
): AgentEvent & { readonly kind: "task" } {
  return { kind: "task", task: withHistory(task, historyLength, context), head: undefined, cursor: cursorOf(task.id, seq) };
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
