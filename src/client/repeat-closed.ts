import { AgentError, isPromise, type Layer, type Maybe, type Reply } from "../envelope/index.js";
import { isSafeToRepeat } from "../policies/retry-safety.js";
import { isClosedConnection } from "../transport/closed-connection.js";
import { answerWithFallback, StreamWithFallback } from "./fallback.js";

/**
 * Sends once more what a peer did not answer because it closed the connection: a kept-alive connection may be closed in the moment of a
 * send (RFC 9112 §9.3.1). Only what is safe to repeat: reads, and messages with a key to a peer that deduplicates by it. No policy has to
 * be configured for it, and it is no sign of load, so it is done at once.
 */
export function repeatClosed(idempotentSend: () => boolean): Layer {
  return (next) => (operation, call) => {
    const reply = next(operation, call);
    if (!isSafeToRepeat(operation, "maybe", idempotentSend())) return reply;
    let isRepeated = false;
    const again = (thrown: unknown): Maybe<Reply> => {
      if (isRepeated || call.cancel.cancelled || !isUnanswered(thrown)) return undefined;
      isRepeated = true;
      return next(operation, call);
    };
    return isPromise(reply) ? answerWithFallback(reply, again) : new StreamWithFallback(reply, again);
  };
}

/** After the first byte of an answer the error is another one. */
function isUnanswered(thrown: unknown): boolean {
  return thrown instanceof AgentError && thrown.code === "unavailable" && isClosedConnection(thrown.facts.cause);
}
