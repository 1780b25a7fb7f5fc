import { type Envelope, isInterrupted, isTerminal, type Maybe, type State, type TaskEvent } from "../../../envelope/index.js";
import { eventSize, messageSize } from "../../content-size.js";
import type { Appended, Batch, NewTask, Refusal, Resumed } from "../../store.js";
import type { MessagePlace, StoredContent } from "../stored-content.js";
import { contentOf, type TaskKeys } from "./keys.js";
import { numberOf, textOf } from "./replies.js";
import { APPENDED } from "./scripts/append.js";

type Value = string | number;

const REFUSALS: Readonly<Record<number, Refusal>> = {
  [APPENDED.closed]: "closed",
  [APPENDED.fenced]: "fenced",
  [APPENDED.sequence]: "sequence",
  [APPENDED.full]: "full",
  [APPENDED.queued]: "queued",
};
const ANSWERS: readonly Appended[] = [0, 1, 2, 3].map((flags) => ({
  ok: true,
  cancelRequested: (flags & APPENDED.cancelRequested) !== 0,
  pushDue: (flags & APPENDED.pushDue) !== 0,
}));

/** `run`: held. `rest`: waiting for its caller. `end`: closed. */
type Phase = "run" | "rest" | "end";

function phaseOf(state: State): Phase {
  return isTerminal(state) ? "end" : isInterrupted(state) ? "rest" : "run";
}

/** A batch as script arguments, and whether it releases the lease. */
export function batchValues(
  content: StoredContent,
  keys: TaskKeys,
  batch: Batch,
): { readonly values: readonly Value[]; readonly releases: boolean } {
  const of = contentOf(keys);
  const { epoch, after, events, state: saved, unlessQueued } = batch;
  const bytes = eventsSize(events);
  const status = lastStatus(events);
  const phase = status === undefined ? "run" : phaseOf(status.state);
  const closing = events.length === 1 && events[0]?.kind === "status" && phase === "end";
  const savedText = saved === undefined ? "" : content.saved(of, saved);
  const values: Value[] = [epoch, after, bytes, closing ? 1 : 0, unlessQueued ? 1 : 0, savedText];
  values.push(status?.state ?? "", status?.at ?? 0, phase);
  for (const [index, event] of events.entries()) values.push(content.event(of, after + 1 + index, event));
  return { values, releases: phase !== "run" };
}

/** About how long these entries are together. */
export function eventsSize(events: readonly TaskEvent[]): number {
  let bytes = 0;
  for (const event of events) bytes += eventSize(event);
  return bytes;
}

/** The status after these entries; undefined if they leave it. */
export function lastStatus(events: readonly TaskEvent[]) {
  const last = events.findLast(({ kind }) => kind !== "artifact");
  if (last === undefined || last.kind === "artifact") return undefined;
  return last.kind === "status" ? last.status : last.task.status;
}

/** A new task as script arguments. `slackMs`: how much longer Redis keeps a key than it is valid. */
export function newTaskValues(
  content: StoredContent,
  keys: TaskKeys,
  { task, owner, agent, key, lease, push }: NewTask,
  slackMs: number,
): readonly Value[] {
  const of = contentOf(keys);
  const first: TaskEvent = { kind: "task", task };
  const { state, at } = task.status;
  return [
    ...[owner, agent, task.contextId, state, at, eventSize(first)],
    ...[lease.holder, lease.leaseMs, content.event(of, 1, first)],
    ...(key === undefined ? ["", "", 0, 0] : [key.key, content.digest(key.digest), key.keepMs, key.keepMs + slackMs]),
    ...(push === undefined ? ["", ""] : [push.id, content.webhook(of, push)]),
  ];
}

/** A task that ended before it was stored. */
export interface EndedTask {
  readonly start: NewTask;
  /** Its entries after the first. */
  readonly ending: Batch;
  /** The size of all its entries. */
  readonly bytes: number;
  /** As the script takes it. */
  readonly values: readonly (string | number)[];
}

/** A task that ended before it was stored, as the arguments of one of several in a script. */
export function endedTaskValues(
  content: StoredContent,
  keys: TaskKeys,
  { start: { task, agent, lease }, ending: { events, state: saved }, bytes }: Omit<EndedTask, "values">,
): readonly Value[] {
  const of = contentOf(keys);
  const { state, at } = lastStatus(events) ?? task.status;
  const savedText = saved === undefined ? "" : content.saved(of, saved);
  const values: Value[] = [task.id, agent, task.contextId, state, at, bytes, lease.holder, savedText, events.length + 1];
  values.push(content.event(of, 1, { kind: "task", task }));
  for (const [index, event] of events.entries()) values.push(content.event(of, index + 2, event));
  return values;
}

/** The result of a write. */
export function appendedFrom(answer: unknown): Appended {
  const flags = numberOf(answer);
  const refused = REFUSALS[flags];
  if (refused !== undefined) return { ok: false, because: refused };
  return ANSWERS[flags] ?? { ok: false, because: "closed" };
}

/** A caller's message as script arguments. A place is named where the message is sealed for it; else the script finds one. */
export function messageValues(text: string, message: Envelope, place: Maybe<MessagePlace>): readonly Value[] {
  const key = message.context.idempotencyKey ?? "";
  return [text, key, messageSize(message), place === undefined ? "" : place.number - 1, place?.after ?? ""];
}

/** Only states of ours were written. */
export function stateFrom(answer: unknown): State {
  return textOf(answer) as State;
}

export function refusedResume(outcome: unknown): Extract<Resumed, { ok: false }>["because"] {
  return outcome === "repeated" || outcome === "closed" || outcome === "running" || outcome === "full" ? outcome : "missing";
}
