import type { Maybe } from "../../envelope/index.js";

export interface BackoffLimits {
  /** The longest wait before the second try; doubled with each try after it. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

/** A peer that asks for more than so many times our longest wait is not waited for. */
export const RETRY_AFTER_FACTOR = 4;

/**
 * Full jitter: anything from nothing to the doubled bound, so that callers who failed together do not come back together.
 * `failures` counts the tries so far, from 1; `random` gives 0 to 1.
 */
export function fullJitterMs(failures: number, { firstWaitMs, longestWaitMs }: BackoffLimits, random: () => number): number {
  return random() * Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs);
}

/** How long to wait before the next try: what the peer asks for, and the jitter on top. Undefined: longer than we wait. */
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
