import { AgentError, type ErrorCode } from "../../../envelope/index.js";

/** Why a handshake fails, with the name that SAGE has for the error, its code, and what it means to a reader. */
const REASONS = {
  "handshake.malformed": ["ErrInvalidMessage", "invalid_message", "not a message of this handshake"],
  "version.unsupported": ["ErrInvalidMessage", "downgrade_refused", "another version of the handshake"],
  "handshake.suite": ["ErrInvalidMessage", "downgrade_refused", "a suite that is not used here or was not offered"],
  "handshake.recipient": ["ErrInvalidMessage", "unauthenticated", "the handshake is for another DID"],
  "handshake.signer": ["ErrInvalidSignature", "unauthenticated", "the message is not signed by the key that it names"],
  "handshake.transcript": ["ErrInvalidSignature", "unauthenticated", "the two sides have not seen the same messages"],
  "handshake.replay": ["ErrReplayAttack", "replayed", "the message was used before"],
  "handshake.unknown": ["ErrSessionExpired", "session_expired", "no such handshake is under way"],
  "handshake.expired": ["ErrSessionExpired", "session_expired", "the handshake took too long"],
  "handshake.time": ["ErrInvalidMessage", "unauthenticated", "the message is not of now, or is valid for too long"],
  "handshake.share": ["ErrInvalidMessage", "bad_peer", "a key share is not a key, or has small order"],
  "handshake.sealed": ["ErrInvalidSignature", "unauthenticated", "the key share is not sealed for this key and this handshake"],
  "handshake.ack": ["ErrInvalidSignature", "unauthenticated", "the peer has not computed the same keys"],
  "handshake.full": ["ErrSessionExpired", "overloaded", "too many handshakes are under way"],
  "sig.bad": ["ErrInvalidSignature", "unauthenticated", "the signature does not match the message"],
  "key.not-in-record": ["ErrInvalidSignature", "unauthenticated", "not a usable key of this DID for this purpose"],
} as const satisfies Record<string, readonly [string, ErrorCode, string]>;

export type HandshakeReason = keyof typeof REASONS;

/** A handshake that failed. `name` is the error of SAGE, `reason` the cause; the peer need not be told more than that it failed. */
export class HandshakeError extends AgentError {
  readonly reason: HandshakeReason;

  constructor(reason: HandshakeReason, what?: string, cause?: unknown) {
    const [name, code, meaning] = REASONS[reason];
    super(code, `${meaning}${what === undefined ? "" : `: ${what}`} (${reason})`, {
      sent: "no",
      detail: { error: name, reason },
      cause,
    });
    this.name = name;
    this.reason = reason;
  }
}
