import { type AgentError, ERRORS, isSafe, type Operation } from "../envelope/index.js";

/**
 * Whether saying it once more can do no harm: nothing was sent, the operation changes nothing, or the peer starts nothing
 * twice for one key. Whether it makes sense is another question, see `isWorthRepeating`.
 */
export function isSafeToRepeat(operation: Operation, sent: "no" | "maybe", idempotentSend: boolean): boolean {
  if (sent === "no" || isSafe(operation)) return true;
  return idempotentSend && operation.kind === "send" && operation.envelope.context.idempotencyKey !== undefined;
}

/** The code allows another try, and trying again can do no harm. Somebody who knows nothing of `sent` may have sent. */
export function isRetryable(operation: Operation, error: AgentError, idempotentSend: boolean): boolean {
  if (ERRORS[error.code].again === "never") return false;
  return isSafeToRepeat(operation, error.facts.sent ?? "maybe", idempotentSend);
}
