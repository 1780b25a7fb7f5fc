import { AgentError, type Maybe } from "../../envelope/index.js";

/** How one call ended for its caller. */
export interface Outcome {
  readonly ok: boolean;
  /** Until the answer was complete, or the call failed. */
  readonly latencyMs: number;
  /** The caller's time limit. Undefined: none. */
  readonly deadlineMs?: Maybe<number>;
}

/** Against which an answer is quick or slow where the caller set no deadline. */
export const BUDGET_MS = 30_000;
/** What any success is worth more than a failure; the other half is for being quick. */
const FOR_SUCCESS = 0.5;

/**
 * From 0 to 1. Success within the deadline comes first: nothing else is worth anything, and the slowest success is worth a
 * half. By the square root of the time used, so that a tenth of a second and a hundredth differ although both are nothing
 * against the deadline.
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
