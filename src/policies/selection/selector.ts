import type { AgentError, Call, Operation } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { matching } from "./matching.js";

/** Candidate destinations, best first; empty if none matches. `because` is one sentence for people. */
export interface Choice {
  readonly order: readonly Destination[];
  readonly because: string;
}

/** How one attempt began: its first event came, it failed before that, or its caller left, which says nothing about the peer. */
export type Observation =
  | { readonly kind: "answered"; readonly afterMs: number }
  | { readonly kind: "failed"; readonly afterMs: number; readonly error: AgentError }
  | { readonly kind: "left" };

/** Orders destinations for a call. The load balancer calls them in that order. */
export interface Selector {
  /** In notes and metrics. */
  readonly name: string;
  order(usable: readonly Destination[], operation: Operation, call: Call): Choice;
  /** An attempt starts. */
  began?(destination: Destination): void;
  /** Exactly once for each that began. */
  observe?(destination: Destination, observation: Observation): void;
}

/**
 * What all selectors have in common: only those who fit the message, those of weight 0 behind all others, and nothing to
 * weigh where one is left. `rank` gets two or more.
 */
export function choose(
  usable: readonly Destination[],
  operation: Operation,
  rank: (able: readonly Destination[]) => Choice,
): Choice {
  const { fitting, because } = matching(usable, operation);
  if (fitting.length === 0) return { order: fitting, because: "nobody has all that the message asks for" };
  const spares = fitting.filter(isSpare);
  const able = spares.length === 0 ? fitting : fitting.filter((each) => !isSpare(each));
  const ranked =
    able.length > 1 ? rank(able) : { order: able, because: able.length === 1 ? "the only one" : "a spare: nobody else is left" };
  return {
    order: spares.length === 0 ? ranked.order : [...ranked.order, ...spares],
    because: because === "" ? ranked.because : `${because}; ${ranked.because}`,
  };
}

/** The share a destination has of the messages, relative to the others. */
export function weightOf({ weight }: Destination): number {
  return weight ?? 1;
}

function isSpare(destination: Destination): boolean {
  return weightOf(destination) === 0;
}

/** From the smallest score to the largest; equal ones keep their order. Each is scored once. */
export function sortedBy(destinations: readonly Destination[], score: (destination: Destination) => number): Destination[] {
  return destinations
    .map((destination) => ({ destination, score: score(destination) }))
    .sort((a, b) => a.score - b.score)
    .map(({ destination }) => destination);
}
