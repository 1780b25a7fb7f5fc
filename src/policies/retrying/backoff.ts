import type { Maybe } from "../../envelope/index.js";

export interface BackoffLimits {
  /** The longest delay before the second attempt; doubled with each attempt. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

/** A `retryAfterMs` of more than this many times the longest delay is not waited for. */
export const RETRY_AFTER_FACTOR = 4;

/**
 * Full jitter: from zero to the doubled bound, so that callers that failed together do not retry together. `failures` counts
 * the attempts so far, from 1; `random` returns 0 to 1.
 */
export function fullJitterMs(failures: number, { firstWaitMs, longestWaitMs }: BackoffLimits, random: () => number): number {
  return random() * Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs);
}

/** The delay before the next attempt: the peer's `retryAfterMs` plus jitter. Undefined if it is too long. */
export function retryWaitMs(
  failures: number,
  retryAfterMs: Maybe<number>,
  limits: BackoffLimits,
  random: () => number,
): Maybe<number> {
  const askedMs = Math.max(0, retryAfterMs ?? 0);
  if (askedMs > limits.longestWaitMs * RETRY_AFTER_FACTOR) return undefined;
  return askedMs + fullJitterMs(failures, limits, random);
}
