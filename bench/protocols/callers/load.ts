import { setTimeout as pause } from "node:timers/promises";
import { chance } from "../../harness/chance.js";
import type { RunClock } from "../clock.js";
import type { PhaseDone, PhaseTask } from "../processes/tasks.js";
import type { TakenEntry } from "../queue/redis-queue.js";
import type { Load } from "../result/index.js";

const NS_PER_MS = 1_000_000;
const MS_PER_S = 1_000;
/** Requests of the warm-up are numbered from here, so that measured ones begin at zero in every arm. */
export const WARM_UP_FROM = 100_000_000;

/** Entries that coordinators take one by one, and that outlive them. */
export interface KeptQueue {
  /** Returns when the first coordinator began. */
  begin(nowNs: number, first: number, count: number): Promise<number>;
  take(nowNs: number): Promise<TakenEntry | undefined>;
}

export interface LoadParts {
  /** Set where the queue is not in the memory of this process. */
  readonly queue?: KeptQueue | undefined;
  readonly now: RunClock;
  readonly seed: number;
  /** Sends one request and records it, however it ends. */
  send(seq: number, intendedNs: number | undefined): Promise<void>;
  /** Entries of a closed loop that are loaded at a time; undefined: all at once. */
  readonly batch?: number | undefined;
  /** Whether the phase may end: always, unless it waits to be told. */
  mayEnd(): boolean;
  /** Records an arrival that was not sent. */
  drop(seq: number, intendedNs: number): void;
}

/** Sends requests until the time or their number is over, and waits for the last answer. */
export async function drive(load: Load, phase: PhaseTask, parts: LoadParts): Promise<PhaseDone> {
  const first = phase.phase === "warm-up" ? WARM_UP_FROM : 0;
  const fromNs = (await parts.queue?.begin(parts.now(), first, phase.requests)) ?? parts.now();
  const untilNs = fromNs + phase.forMs * NS_PER_MS;
  if (parts.queue !== undefined) {
    if (load.loop !== "closed") throw new Error("a queue in Redis is emptied in a closed loop");
    await emptyQueue(parts.queue, load.clients, untilNs, parts);
    return { fromNs, toNs: parts.now() };
  }
  if (load.loop === "closed") await closedLoop(load.clients, { first, untilNs, requests: phase.requests }, parts);
  else await openLoop(load, { first, fromNs, untilNs, requests: phase.requests }, parts);
  return { fromNs, toNs: parts.now() };
}

interface Window {
  readonly first: number;
  readonly untilNs: number;
  readonly requests: number;
}

/** Each client sends its next request when the last one is answered. A batch begins when the one before has ended. */
async function closedLoop(
  clients: number,
  { first, untilNs, requests }: Window,
  { now, send, mayEnd, batch = requests }: LoadParts,
): Promise<void> {
  const goesOn = (): boolean => now() < untilNs || !mayEnd();
  let next = 0;
  while (next < requests && goesOn()) {
    const end = Math.min(requests, next + batch);
    const client = async (): Promise<void> => {
      while (next < end && goesOn()) await send(first + next++, undefined);
    };
    await Promise.all(Array.from({ length: clients }, client));
  }
}

/** Each client takes its next entry when the last one is answered. One that was taken before counts from then. */
async function emptyQueue(queue: KeptQueue, clients: number, untilNs: number, { now, send }: LoadParts): Promise<void> {
  const client = async (): Promise<void> => {
    while (now() < untilNs) {
      const taken = await queue.take(now());
      if (taken === undefined) return;
      await send(taken.seq, taken.again ? taken.firstTakenNs : undefined);
    }
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
