import type { Maybe } from "../../envelope/index.js";
import type { Clock } from "../clock.js";

/** Options of `retryBudget`. */
export interface RetryBudgetOptions {
  /** The time source. */
  readonly clock: Clock;
  /** Retries per call in the long run. Default: 0.2. */
  readonly share?: Maybe<number>;
  /** Retries per second that are always allowed, for callers with little traffic. Default: 1. */
  readonly perSecond?: Maybe<number>;
  /** Unused retries kept for later. Default: 100. */
  readonly saved?: Maybe<number>;
}

/** A retry budget: one per destination, shared by everything that repeats calls to it. */
export interface RetryBudget {
  /** Counts a new call, not a retry. */
  called(): void;
  /** Takes one retry; false if none is left. */
  spend(): boolean;
}

const SHARE = 0.2;
const PER_SECOND = 1;
const SAVED = 100;
/** The initial balance, in seconds of `perSecond`. */
export const BUDGET_START_SECONDS = 10;

/**
 * A token bucket against retry storms: at most `share` retries per call plus `perSecond` per second, with
 * `BUDGET_START_SECONDS` of those in advance.
 */
export function retryBudget(options: RetryBudgetOptions): RetryBudget {
  const { clock, share = SHARE, perSecond = PER_SECOND, saved = SAVED } = options;
  let tokens = Math.min(saved, perSecond * BUDGET_START_SECONDS);
  let filledAtMs = clock.now();
  const add = (more: number): void => {
    tokens = Math.min(saved, tokens + more);
  };
  return {
    called: () => add(share),
    spend() {
      const nowMs = clock.now();
      add((Math.max(0, nowMs - filledAtMs) / 1_000) * perSecond);
      filledAtMs = nowMs;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
