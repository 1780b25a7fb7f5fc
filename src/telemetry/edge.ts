import type { Operation } from "../envelope/index.js";

/** One direction between two agents over one protocol: exactly the three labels of every metric. */
export interface Edge {
  readonly srcAgent: string;
  readonly dstId: string;
  readonly protocol: string;
}

/** Label value for names that are not allowed as labels or exceed the series limit. */
export const OTHER = "other";

/** The retry count of a message. */
export function retriesOf(operation: Operation): number {
  return operation.kind === "send" ? (operation.envelope.meta.retryCount ?? 0) : 0;
}
