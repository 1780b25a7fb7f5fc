/** What is asked in every arm, and what comes back. */

/** How a decision is come by. */
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
  /** The modules are gone through as often as fits, and at least once. */
  readonly ms: number;
}

/** A process that has never decided anything, from its start to its first decision. */
export interface Load {
  readonly importMs: number;
  readonly firstDecisionMs: number;
  /** What is still held after both: of the heap, and of memory altogether. */
  readonly heapMb: number;
  readonly rssMb: number;
}

/** What a process holds when nothing is left to collect. */
export interface Held {
  readonly heapMb: number;
  readonly rssMb: number;
}

/** Memory before and after so many decisions of a process that is warm. */
export interface Growth {
  readonly decisions: number;
  readonly before: Held;
  readonly after: Held;
}

/** Whether sentence embeddings can be had, and how long opening them took. */
export type Opening =
  | { readonly kind: "open"; readonly ms: number }
  /** Why not, as it is to be said to a person. */
  | { readonly kind: "absent"; readonly because: string };
