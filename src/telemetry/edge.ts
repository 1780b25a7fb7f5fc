/** One direction between two agents over one protocol: exactly the three labels of every metric. */
export interface Edge {
  readonly srcAgent: string;
  readonly dstId: string;
  readonly protocol: string;
}

/** Label value for names that are not allowed as labels or exceed the series limit. */
export const OTHER = "other";
