import { AgentError, type ErrorCode } from "../../../envelope/index.js";
import { RecordError, type RecordProblem, type SealedChannel } from "../../../security/sealed-records/index.js";

/** Why a session refuses, with the name that SAGE has for the error, its code, and what it means to a reader. */
const REASONS = {
  "session.unknown": ["ErrSessionExpired", "session_expired", "there is no such session here; make a new one"],
  "session.expired": ["ErrSessionExpired", "session_expired", "the session is too old, or was idle for too long"],
  "session.exhausted": ["ErrSessionExpired", "session_expired", "the session has carried as many messages as it may"],
  "session.closed": ["ErrSessionExpired", "session_expired", "the session is closed"],
  "key.revoked": ["ErrSessionExpired", "session_expired", "a key of the session was revoked, replaced or has expired"],
  "session.provisional": ["ErrInvalidMessage", "invalid_message", "the responder sends nothing before the first valid message"],
  "session.aead": ["ErrInvalidMessage", "bad_signature", "the sealed record is refused"],
  "size.exceeded": ["ErrInvalidMessage", "too_large", "the record or its associated data are too large"],
  "session.replay": ["ErrReplayAttack", "replayed", "the record was received before"],
  "session.window": ["ErrReplayAttack", "replayed", "the number of the record is outside of what the session accepts"],
  "stream.id": ["ErrReplayAttack", "replayed", "the id of the stream was used before in this session"],
  "stream.order": ["ErrReplayAttack", "replayed", "the record is not the next one of its stream"],
  "stream.cut": ["ErrInvalidMessage", "interrupted", "the stream ended without its last record"],
  policy_denied: ["ErrDowngradeRefused", "downgrade_refused", "the peer has a session here, and the message is not sealed in it"],
} as const satisfies Record<string, readonly [string, ErrorCode, string]>;

export type SessionReason = keyof typeof REASONS;

/** A message that a session refuses, or a session that has ended. `name` is the error of SAGE, `reason` the cause. */
export class SessionError extends AgentError {
  readonly reason: SessionReason;

  constructor(reason: SessionReason, cause?: unknown) {
    const [name, code, meaning] = REASONS[reason];
    super(code, `${meaning} (${reason})`, { detail: { error: name, reason }, cause });
    this.name = name;
    this.reason = reason;
  }
}

/** What each problem of the record layer is called here. */
const OF_RECORD = {
  truncated: "session.aead",
  malformed: "session.aead",
  wrong: "session.aead",
  too_large: "size.exceeded",
  replayed: "session.replay",
  stale: "session.window",
  out_of_range: "session.window",
  reordered: "stream.order",
  exhausted: "session.exhausted",
  expired: "session.expired",
  closed: "session.closed",
} as const satisfies Record<RecordProblem, SessionReason>;

/** `seal` of a channel. Throws `SessionError`. */
export function sealRecord(channel: SealedChannel, plaintext: Uint8Array, associated: Uint8Array): Uint8Array {
  try {
    return channel.seal(plaintext, associated);
  } catch (thrown) {
    throw withReason(thrown);
  }
}

/** `open` of a channel. Throws `SessionError`. */
export function openRecord(channel: SealedChannel, record: Uint8Array, associated: Uint8Array): Uint8Array {
  try {
    return channel.open(record, associated);
  } catch (thrown) {
    throw withReason(thrown);
  }
}

function withReason(thrown: unknown): unknown {
  return thrown instanceof RecordError ? new SessionError(OF_RECORD[thrown.problem], thrown) : thrown;
}
