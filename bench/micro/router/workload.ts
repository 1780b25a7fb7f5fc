/** Requests and results of every arm. */

/** How a decision is made. */
export type Work =
  /** Words of a list are counted: the floor. */
  | "keywords"
  /** One call for each module, alone with the description of its scenario. */
  | "route"
  /** One call for all scenarios. */
  | "all at once";

/** Files of labelled scenarios, all of one process. */
export interface Corpus {
  readonly paths: readonly string[];
}

export interface Order {
  readonly work: Work;
  /** All modules, repeated while time is left, at least once. */
  readonly ms: number;
  /** The times are not those of a warm-up: each module's median is taken from them. */
  readonly counted: boolean;
}

/** A process that has never decided anything, from its start to its first decision. */
export interface Load {
  readonly importMs: number;
  readonly firstDecisionMs: number;
  /** Memory in use after both: heap, and total. */
  readonly heapMb: number;
  readonly rssMb: number;
}

/** Memory of a process after garbage collection. */
export interface Held {
  readonly heapMb: number;
  readonly rssMb: number;
}

/** Memory before and after this many decisions of a warm process. */
export interface Growth {
  readonly decisions: number;
  readonly before: Held;
  readonly after: Held;
}

/** Whether sentence embeddings can be had, and how long opening them took. */
export type Opening =
  | { readonly kind: "open"; readonly ms: number }
  /** The reason, for the user. */
  | { readonly kind: "absent"; readonly because: string };
