import { AgentError, type Call, type Maybe } from "../envelope/index.js";
import type { Clock } from "./clock.js";

const RETRY_AFTER_S = 1;

/** A queue or limit is full: nothing was started, and a retry may succeed. */
export function overloadedError(why: string): AgentError {
  return new AgentError("overloaded", why, {
    sent: "no",
    retryAfterMs: RETRY_AFTER_S * 1_000,
    head: { "retry-after": String(RETRY_AFTER_S) },
  });
}

/** The deadline passed while the call was queued. */
export function deadlinePassed(): AgentError {
  return new AgentError("deadline", "the deadline of the call passed while it was queued", { sent: "no" });
}

/** The error of a call that is already cancelled or past its deadline. */
export function cannotWait({ cancel, deadline }: Call, clock: Clock): Maybe<AgentError> {
  if (cancel.reason !== undefined) return cancel.reason;
  return deadline !== undefined && deadline <= clock.now() ? deadlinePassed() : undefined;
}
