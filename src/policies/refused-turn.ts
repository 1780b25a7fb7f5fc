import { AgentError, type Call, type Maybe } from "../envelope/index.js";
import type { Clock } from "./clock.js";

const RETRY_AFTER_S = 1;

/** A place that is full for now: nothing was begun, and the next try may find room. */
export function tooMany(why: string): AgentError {
  return new AgentError("overloaded", why, {
    sent: "no",
    retryAfterMs: RETRY_AFTER_S * 1_000,
    head: { "retry-after": String(RETRY_AFTER_S) },
  });
}

/** The turn would come, or came, when nobody could use it any more. */
export function tooLate(): AgentError {
  return new AgentError("deadline", "the time for this call passed before it was its turn", { sent: "no" });
}

/** Why this call need not even begin to wait. */
export function cannotWait({ cancel, deadline }: Call, clock: Clock): Maybe<AgentError> {
  if (cancel.reason !== undefined) return cancel.reason;
  return deadline !== undefined && deadline <= clock.now() ? tooLate() : undefined;
}
