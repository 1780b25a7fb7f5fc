/** One question, its answer, and the text that it can be found in. */
export interface ShardItem {
  readonly id: string;
  readonly question: string;
  readonly answer: string;
  readonly content: string;
}

/** Where the questions come from. Processes get this and read them by themselves. */
export type ShardSource =
  | { readonly kind: "generated"; readonly groups: number; readonly seed: number }
  | { readonly kind: "file"; readonly path: string; readonly seed: number };

/** The piece of one group that one agent holds. */
export interface Fragment {
  readonly group: number;
  readonly text: string;
}

/** What the harness gives to the agents and to the caller of a ring. */
export interface ShardData {
  readonly source: ShardSource;
  /** A peer is asked so often whether it is alive. */
  readonly heartbeatMs: number;
  /** Without an answer for so long it is skipped. */
  readonly deadAfterMs: number;
}
