import { isObject, type Json, type JsonObject, type Maybe } from "../../envelope/index.js";

/** The faded evidence of one protocol in one context: how much is for it, and how much against. */
export interface Evidence {
  readonly good: number;
  readonly bad: number;
}
/** By protocol. One that is missing was not tried recently. */
export type Posterior = ReadonlyMap<string, Evidence>;

/** The factor applied to older evidence with each new outcome. */
export interface Fading {
  /** Of the protocol that was called: its last few dozen calls count, so that a failing one is left soon. */
  readonly tried: number;
  /** Of all others: slower, so that one that failed is eventually tried again. */
  readonly others: number;
}
/** The default fading of evidence per observation. */
export const FADING: Fading = Object.freeze({ tried: 0.97, others: 0.998 });

/** Evidence of the tried protocol always fades a little, so that it stays bounded and no mistake lasts forever. */
export const SLOWEST_FADING = 0.9999;

/** Protocols per context; the one with the least evidence is evicted. */
export const ARMS = 32;
/** Evidence below this counts as none. */
const LEAST_EVIDENCE = 0.01;
/** The bound given by the slowest fading; more is not valid evidence. */
const MOST_EVIDENCE = 100_000;

const NONE: Evidence = Object.freeze({ good: 0, bad: 0 });
export const NOTHING_KNOWN: Posterior = new Map();

export function evidenceOf(posterior: Posterior, protocol: string): Evidence {
  return posterior.get(protocol) ?? NONE;
}

/** Adds one reward, from 0 to 1: the reward counts for the protocol, the rest against it. */
export function withReward(posterior: Posterior, protocol: string, reward: number, fading: Fading): Posterior {
  const after = new Map<string, Evidence>();
  for (const [each, evidence] of posterior) {
    const left = faded(evidence, each === protocol ? fading.tried : fading.others);
    if (each === protocol || weight(left) >= LEAST_EVIDENCE) after.set(each, left);
  }
  const { good, bad } = evidenceOf(after, protocol);
  after.delete(protocol);
  if (after.size >= ARMS) after.delete(leastKnown(after));
  return after.set(protocol, { good: good + reward, bad: bad + (1 - reward) });
}

function faded({ good, bad }: Evidence, factor: number): Evidence {
  return { good: good * factor, bad: bad * factor };
}

function weight({ good, bad }: Evidence): number {
  return good + bad;
}

function leastKnown(posterior: Posterior): string {
  return [...posterior].reduce((least, each) => (weight(each[1]) < weight(least[1]) ? each : least))[0];
}

/** The stored form: a list, because a protocol name may not be a valid member name. */
export function writePosterior(posterior: Posterior): JsonObject {
  const arms = [...posterior].map(([protocol, { good, bad }]) => ({ protocol, good, bad }));
  return { arms };
}

/** Undefined for anything else. */
export function readPosterior({ arms }: JsonObject): Maybe<Posterior> {
  if (!Array.isArray(arms) || arms.length > ARMS) return undefined;
  const read = arms.map(readArm);
  return read.every((arm) => arm !== undefined) ? new Map(read) : undefined;
}

function readArm(arm: Json): Maybe<readonly [string, Evidence]> {
  if (!isObject(arm)) return undefined;
  const { protocol, good, bad } = arm;
  return typeof protocol === "string" && isWeight(good) && isWeight(bad) ? [protocol, { good, bad }] : undefined;
}

function isWeight(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= MOST_EVIDENCE;
}
