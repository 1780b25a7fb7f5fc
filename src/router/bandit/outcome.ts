import { AgentError, type Maybe } from "../../envelope/index.js";

/** The outcome of one call for its caller. */
export interface Outcome {
  readonly ok: boolean;
  /** Until the answer was complete, or the call failed. */
  readonly latencyMs: number;
  /** The caller's time limit. Undefined: none. */
  readonly deadlineMs?: Maybe<number>;
}

/** The reference time for calls without a deadline. */
export const BUDGET_MS = 30_000;
/** The reward of any success; the other half is for speed. */
const FOR_SUCCESS = 0.5;

/**
 * From 0 to 1. Failure is 0, and the slowest success within the deadline is a half. By the square root of the time used, so
 * that a tenth and a hundredth of a second differ although both are small against the deadline.
 */
export function rewardOf({ ok, latencyMs, deadlineMs }: Outcome): number {
  if (!isDuration(latencyMs)) throw notADuration("latencyMs");
  if (deadlineMs !== undefined && !isDuration(deadlineMs)) throw notADuration("deadlineMs");
  const isLate = deadlineMs !== undefined && latencyMs > deadlineMs;
  if (!ok || isLate) return 0;
  const budgetMs = deadlineMs ?? BUDGET_MS;
  const used = budgetMs === 0 ? 0 : Math.min(1, latencyMs / budgetMs);
  return FOR_SUCCESS + (1 - FOR_SUCCESS) * (1 - Math.sqrt(used));
}

function isDuration(value: unknown): boolean {
  return Number.isFinite(value) && Number(value) >= 0;
}

function notADuration(field: string): AgentError {
  return new AgentError("invalid_message", `${field} must be a number of milliseconds, zero or more`, { field });
}
