import { AgentError, type AgentEvent, type Handler, hasProtected, isPromise, isProtected, mapEach } from "../envelope/index.js";
import type { Host, Protocol } from "./protocol.js";

type Named = Pick<Protocol, "id" | "traits">;

/**
 * Rejects signed and sealed messages on a protocol that cannot carry them, instead of sending what remains. Protocols with the
 * trait `proofs` reject for themselves what a single peer or message has no room for.
 */
export function keepProtection(handler: Handler, { id, traits }: Named): Handler {
  if (traits.proofs) return handler;
  return (operation, call) =>
    operation.kind === "send" && isProtected(operation.envelope)
      ? Promise.reject(cannotCarry(id, "the message"))
      : handler(operation, call);
}

/** The host as a protocol sees it: the same for answers. */
export function keepAnswerProtection<T extends Host>(host: T, { id, traits }: Named): T {
  if (traits.proofs) return host;
  const handler: Handler = (operation, call) => {
    const reply = host.handler(operation, call);
    return isPromise(reply) ? reply.then((event) => checked(event, id)) : mapEach(reply, (event) => checked(event, id));
  };
  return { ...host, handler };
}

function checked(event: AgentEvent, id: string): AgentEvent {
  if (hasProtected(event)) throw cannotCarry(id, "the answer");
  return event;
}

/** Why the full envelope is not sent to other peers. */
export const ONLY_KOINE_PEERS = "which only Koine peers can receive";

/** The error for a message that a protocol could only send without its signatures or ciphertext. */
export function cannotCarry(
  protocol: string,
  what: "the message" | "the answer",
  why = "which this protocol cannot carry",
): AgentError {
  const facts = what === "the message" ? { sent: "no" as const } : undefined;
  return new AgentError("downgrade_refused", `${what} is signed or sealed, ${why} (${protocol})`, facts);
}
