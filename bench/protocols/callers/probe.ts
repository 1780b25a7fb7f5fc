import { setTimeout as pause } from "node:timers/promises";
import type { RunClock } from "../clock.js";
import type { NoteEvent } from "../result/index.js";
import type { Attempt } from "./client.js";

/** From one probe to the next, unless it takes longer: what recoveries are resolved to. Timers are late by up to two milliseconds. */
const EVERY_MS = 8;
/** An agent that did not come back by then is not asked any longer. */
const LONGEST_MS = 30_000;
/** Answers that are wrong: the agent is back, and does not know what it knew. */
const MAX_WRONG = 10;
/** Of one probe: an agent that takes longer is asked again. */
const PROBE_MS = 2_000;

export interface ProbeParts {
  readonly now: RunClock;
  /** Ends with the phase. */
  readonly signal: AbortSignal;
  /** Asks the agent something that it alone knows. */
  ask(probe: number, signal: AbortSignal): Promise<{ readonly attempt: Attempt; readonly isRight: boolean }>;
  note(ns: number, values: NoteEvent["values"]): void;
}

/** Asks an agent that comes back one question after the other, until it has given a right answer. Each probe is a note. */
export async function probeUntilRight({ now, signal, ask, note }: ProbeParts): Promise<void> {
  const until = performance.now() + LONGEST_MS;
  let wrong = 0;
  for (let probe = 0; wrong < MAX_WRONG && performance.now() < until && !signal.aborted; probe++) {
    const sent = now();
    const next = performance.now() + EVERY_MS;
    const { attempt, isRight } = await ask(probe, AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]));
    const { error, done = now() } = attempt;
    note(done, { sent, answered: error === undefined, right: isRight });
    if (isRight) return;
    if (error === undefined) wrong++;
    await pause(Math.max(0, next - performance.now()), undefined, { signal }).catch(() => undefined);
  }
}
