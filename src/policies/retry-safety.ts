import { type AgentError, ERRORS, isSafe, type Operation } from "../envelope/index.js";

/**
 * Whether a repeat is safe: nothing was sent, the operation is read-only, or the peer deduplicates by key. Whether it is
 * useful is another question, see `isWorthRepeating`.
 */
export function isSafeToRepeat(operation: Operation, sent: "no" | "maybe", idempotentSend: boolean): boolean {
  if (sent === "no" || isSafe(operation)) return true;
  return idempotentSend && operation.kind === "send" && operation.envelope.context.idempotencyKey !== undefined;
}

/** The code allows a retry, and a retry is safe. An unknown `sent` counts as sent. */
export function isRetryable(operation: Operation, error: AgentError, idempotentSend: boolean): boolean {
  if (ERRORS[error.code].again === "never") return false;
  return isSafeToRepeat(operation, error.facts.sent ?? "maybe", idempotentSend);
}
