import type { AgentError, Call, Operation } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { matching } from "./matching.js";

/** Candidate destinations, best first; empty if none matches. */
export interface Choice {
  /** The destinations to try, best first. */
  readonly order: readonly Destination[];
  /** The reason, as one sentence. */
  readonly because: string;
}

/**
 * The start of one attempt: first event received, failed before it, or abandoned by the caller, which says nothing about the
 * peer.
 */
export type Observation =
  | { readonly kind: "answered"; readonly afterMs: number }
  | { readonly kind: "failed"; readonly afterMs: number; readonly error: AgentError }
  | { readonly kind: "left" };

/** Orders destinations for a call. The load balancer calls them in that order. */
export interface Selector {
  /** The name of the selector in notes and metrics. */
  readonly name: string;
  /** The destinations to try for a call, best first. */
  order(usable: readonly Destination[], operation: Operation, call: Call): Choice;
  /** Called when an attempt starts. */
  callStarted?(destination: Destination): void;
  /** Called exactly once for each attempt that was started. */
  observe?(destination: Destination, observation: Observation): void;
}

/**
 * The part common to all selectors: keeps matching destinations and puts those of weight 0 last. `rank` is called with two
 * or more.
 */
export function choose(
  usable: readonly Destination[],
  operation: Operation,
  rank: (able: readonly Destination[]) => Choice,
): Choice {
  const { fitting, because } = matching(usable, operation);
  if (fitting.length === 0) return { order: fitting, because: "no destination has the tags and the skill of the message" };
  const spares = fitting.filter(isSpare);
  const able = spares.length === 0 ? fitting : fitting.filter((each) => !isSpare(each));
  const ranked =
    able.length > 1
      ? rank(able)
      : { order: able, because: able.length === 1 ? "the only one" : "a spare; no other destination is left" };
  return {
    order: spares.length === 0 ? ranked.order : [...ranked.order, ...spares],
    because: because === "" ? ranked.because : `${because}; ${ranked.because}`,
  };
}

/** The relative share of the messages. */
export function weightOf({ weight }: Destination): number {
  return weight ?? 1;
}

function isSpare(destination: Destination): boolean {
  return weightOf(destination) === 0;
}

/** Sorted by score, ascending; stable. Each destination is scored once. */
export function sortedBy(destinations: readonly Destination[], score: (destination: Destination) => number): Destination[] {
  return destinations
    .map((destination) => ({ destination, score: score(destination) }))
    .sort((a, b) => a.score - b.score)
    .map(({ destination }) => destination);
}
