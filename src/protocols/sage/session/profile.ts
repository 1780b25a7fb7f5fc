import type { RecordProfile } from "../../../security/sealed-records/index.js";

/** The records of SAGE 0.10.0. */
export const RECORDS: RecordProfile = Object.freeze({
  cipher: "chacha20-poly1305",
  labels: { record: "sage-record|0.10.0", initiatorKey: "sage-c2s-key|0.10.0", responderKey: "sage-s2c-key|0.10.0" },
  rekeyEvery: 256,
  records: 1_000,
  window: 1_024,
  recordBytes: 8 * 1_024 * 1_024,
  associatedBytes: 4_033,
  idleMs: 600_000,
  lifetimeMs: 3_600_000,
});

/** The records of a stream, which has keys of its own: in order, and as many as a stream may have events. Ours, not of SAGE 0.10.0. */
export const STREAM_RECORDS: RecordProfile = Object.freeze({
  ...RECORDS,
  labels: { record: "ute-sage-stream-record|1", initiatorKey: "ute-sage-stream-c2s|1", responderKey: "ute-sage-stream-s2c|1" },
  records: 1_000_000,
  window: 0,
});

/** Domain separation: every hash and key of a session begins with one of these. */
export const LABELS = {
  session: "sage-session|0.10.0",
  /** The HMAC keys are an extension of ours (`docs/sage.md`). */
  initiatorMac: "ute-sage-c2s-mac|1",
  responderMac: "ute-sage-s2c-mac|1",
  streams: "ute-sage-streams|1",
  stream: "ute-sage-stream|1",
} as const;

export const SESSION_LIMITS = {
  /** Signed messages of one direction, and streams of both together. Records have the same limit of their own. */
  messages: RECORDS.records,
  /** At this part of a limit the next session is prepared. */
  prepareAt: 0.8,
} as const;
