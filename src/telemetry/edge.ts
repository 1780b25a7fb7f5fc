import type { Maybe } from "../envelope/index.js";

/** One direction between two agents over one protocol: the three labels of every metric. */
export interface Edge {
  readonly srcAgent: string;
  readonly dstId: string;
  readonly protocol: string;
  /** The fourth label of metrics that count refusals: a name from a fixed list. */
  readonly reason?: Maybe<string>;
}

/** Label value for names that are not allowed as labels or exceed the series limit. */
export const OTHER = "other";
