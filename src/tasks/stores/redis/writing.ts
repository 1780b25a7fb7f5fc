import { type Envelope, isInterrupted, isTerminal, type State, type TaskEvent } from "../../../envelope/index.js";
import { eventSize, messageSize } from "../../content-size.js";
import type { Appended, Batch, NewTask, Refusal, Resumed } from "../../store.js";
import { storedText } from "../stored-form.js";
import { numberOf, textOf } from "./replies.js";
import { APPENDED } from "./scripts/append.js";
import { configText } from "./webhooks.js";

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
export function batchValues(batch: Batch): { readonly values: readonly Value[]; readonly releases: boolean } {
  const { epoch, after, events, state: saved, unlessQueued } = batch;
  let bytes = 0;
  for (const event of events) bytes += eventSize(event);
  const status = lastStatus(events);
  const phase = status === undefined ? "run" : phaseOf(status.state);
  const closing = events.length === 1 && events[0]?.kind === "status" && phase === "end";
  const savedText = saved === undefined ? "" : JSON.stringify(saved);
  const values: Value[] = [epoch, after, bytes, closing ? 1 : 0, unlessQueued ? 1 : 0, savedText];
  values.push(status?.state ?? "", status?.at ?? 0, phase);
  for (const event of events) values.push(storedText(event));
  return { values, releases: phase !== "run" };
}

function lastStatus(events: readonly TaskEvent[]) {
  const last = events.findLast(({ kind }) => kind !== "artifact");
  if (last === undefined || last.kind === "artifact") return undefined;
  return last.kind === "status" ? last.status : last.task.status;
}

/** A new task as script arguments. `slackMs`: how much longer Redis keeps a key than it is valid. */
export function newTaskValues({ task, owner, agent, key, lease, push }: NewTask, slackMs: number): readonly Value[] {
  const first: TaskEvent = { kind: "task", task };
  const { state, at } = task.status;
  return [
    ...[owner, agent, task.contextId, state, at, eventSize(first)],
    ...[lease.holder, lease.leaseMs, storedText(first)],
    ...(key === undefined ? ["", "", 0, 0] : [key.key, key.digest, key.keepMs, key.keepMs + slackMs]),
    ...(push === undefined ? ["", ""] : [push.id, configText(push)]),
  ];
}

/** The result of a write. */
export function appendedFrom(answer: unknown): Appended {
  const flags = numberOf(answer);
  const refused = REFUSALS[flags];
  if (refused !== undefined) return { ok: false, because: refused };
  return ANSWERS[flags] ?? { ok: false, because: "closed" };
}

export function messageValues(message: Envelope): readonly (string | number)[] {
  return [storedText(message), message.context.idempotencyKey ?? "", messageSize(message)];
}

/** Only states of ours were written. */
export function stateFrom(answer: unknown): State {
  return textOf(answer) as State;
}

export function refusedResume(outcome: unknown): Extract<Resumed, { ok: false }>["because"] {
  return outcome === "repeated" || outcome === "closed" || outcome === "running" || outcome === "full" ? outcome : "missing";
}
