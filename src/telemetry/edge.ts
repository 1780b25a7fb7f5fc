import type { Operation } from "../envelope/index.js";

/** One direction between two agents over one protocol: the three labels of every metric, and nothing else. */
export interface Edge {
  readonly srcAgent: string;
  readonly dstId: string;
  readonly protocol: string;
}

/** What stands in a label for every name that may not be there, or that came after the last free place. */
export const OTHER = "other";

/** How often this message was sent before. */
export function retriesOf(operation: Operation): number {
  return operation.kind === "send" ? (operation.envelope.meta.retryCount ?? 0) : 0;
}
