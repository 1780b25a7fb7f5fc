import { setTimeout as pause } from "node:timers/promises";
import { chance } from "../../harness/chance.js";
import type { RunClock } from "../clock.js";
import type { PhaseDone, PhaseTask } from "../processes/tasks.js";
import type { Load } from "../result/index.js";

const NS_PER_MS = 1_000_000;
const MS_PER_S = 1_000;
/** Requests of the warm-up are numbered from here, so that measured ones begin at zero in every arm. */
export const WARM_UP_FROM = 100_000_000;

export interface LoadParts {
  readonly now: RunClock;
  readonly seed: number;
  /** Sends one request and records it, however it ends. */
  send(seq: number, intendedNs: number | undefined): Promise<void>;
  /** Whether the phase may end: always, unless it waits to be told. */
  mayEnd(): boolean;
  /** Records an arrival that was not sent. */
  drop(seq: number, intendedNs: number): void;
}

/** Sends requests until the time or their number is over, and waits for the last answer. */
export async function drive(load: Load, phase: PhaseTask, parts: LoadParts): Promise<PhaseDone> {
  const first = phase.phase === "warm-up" ? WARM_UP_FROM : 0;
  const fromNs = parts.now();
  const untilNs = fromNs + phase.forMs * NS_PER_MS;
  if (load.loop === "closed") await closedLoop(load.clients, { first, untilNs, requests: phase.requests }, parts);
  else await openLoop(load, { first, fromNs, untilNs, requests: phase.requests }, parts);
  return { fromNs, toNs: parts.now() };
}

interface Window {
  readonly first: number;
  readonly untilNs: number;
  readonly requests: number;
}

/** Each client sends its next request when the last one is answered. */
async function closedLoop(
  clients: number,
  { first, untilNs, requests }: Window,
  { now, send, mayEnd }: LoadParts,
): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < requests && (now() < untilNs || !mayEnd())) await send(first + next++, undefined);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Requests are sent by the schedule, whether earlier ones are answered or not. */
async function openLoop(
  { perSecond, arrivals, inFlight }: Extract<Load, { loop: "open" }>,
  { first, fromNs, untilNs, requests }: Window & { readonly fromNs: number },
  { now, seed, send, drop, mayEnd }: LoadParts,
): Promise<void> {
  const gaps = arrivalGapsMs(perSecond, arrivals, seed);
  const running = new Set<Promise<void>>();
  let at = fromNs;
  for (let seq = first; seq < first + requests; seq++) {
    at += gaps() * NS_PER_MS;
    if (at >= untilNs && mayEnd()) break;
    const waitMs = (at - now()) / NS_PER_MS;
    if (waitMs > 0) await pause(waitMs);
    if (running.size >= inFlight) {
      drop(seq, at);
      continue;
    }
    const sending = send(seq, at).finally(() => running.delete(sending));
    running.add(sending);
  }
  await Promise.all(running);
}

/** The time between arrivals: always the same, or exponential. The same for the same seed. */
export function arrivalGapsMs(perSecond: number, arrivals: "poisson" | "constant", seed: number): () => number {
  const mean = MS_PER_S / perSecond;
  const random = chance(seed);
  return arrivals === "constant" ? () => mean : () => -Math.log(1 - random()) * mean;
}
