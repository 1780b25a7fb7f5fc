import { AgentError, type ErrorCode } from "../../../envelope/index.js";

/** Why a handshake failed. The peer gets it as `reason`, and the audit log. */
export type HandshakeProblem =
  /** Not a message of this handshake. */
  | "malformed"
  | "unsupported_profile"
  /** The session of agent-connect 0.3, which is not switched on. */
  | "legacy_session_off"
  /** For another DID or address. */
  | "wrong_recipient"
  /** The clocks differ too much. */
  | "not_of_now"
  | "replayed"
  /** Of a DID that the client did not expect. */
  | "wrong_identity"
  /** The DID document does not list the key for authentication, or is out of use. */
  | "unknown_key"
  | "bad_ephemeral_key"
  | "bad_signature"
  /** The first record is not of this handshake: repeated, or altered on the way. */
  | "bad_finish"
  | "too_many_hellos"
  | "timed_out"
  | "refused_by_peer"
  | "cut";

const CODES: { readonly [problem in HandshakeProblem]?: ErrorCode } = {
  replayed: "replayed",
  too_many_hellos: "overloaded",
  unsupported_profile: "downgrade_refused",
  legacy_session_off: "downgrade_refused",
};

/** A failed handshake, for the peer: `unauthenticated`, or a more precise code. */
export function handshakeError(problem: HandshakeProblem, message: string): AgentError {
  return new AgentError(CODES[problem] ?? "unauthenticated", message, { detail: { reason: problem } });
}

/** A failed handshake, for the caller on this side: nothing of its call was sent. */
export function handshakeFailed(thrown: unknown): AgentError {
  const error = AgentError.from(thrown);
  if (KEPT.has(error.code)) return new AgentError(error.code, error.message, { ...error.facts, sent: "no", cause: thrown });
  const reason = error.facts.detail?.["reason"] ?? error.code;
  return new AgentError("handshake_failed", `the session with the peer failed: ${error.message}`, {
    sent: "no",
    detail: { ...error.facts.detail, reason, code: error.code },
    cause: thrown,
  });
}

/** These say more than that the handshake failed, or that it may succeed later. */
const KEPT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "identity_unresolved",
  "cancelled",
  "deadline",
  "overloaded",
  "unavailable",
  "interrupted",
  "unsupported",
  "forbidden",
  "not_found",
]);
