import { AgentError } from "../envelope/index.js";

const RETRY_AFTER_S = 1;

/** A place that is full for now: nothing was begun, and the next try may find room. */
export function tooMany(why: string): AgentError {
  return new AgentError("overloaded", why, {
    sent: "no",
    retryAfterMs: RETRY_AFTER_S * 1_000,
    head: { "retry-after": String(RETRY_AFTER_S) },
  });
}
