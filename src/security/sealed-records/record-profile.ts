/** The ciphers of records: 32 bytes of key, 12 of nonce, 16 of tag. */
export type RecordCipher = "aes-256-gcm" | "chacha20-poly1305";

/** The form and the limits of the records of a protocol. Both sides must use the same. */
export interface RecordProfile {
  readonly cipher: RecordCipher;
  readonly labels: {
    /** Begins the associated data of every record. */
    readonly record: string;
    /** Derives the keys of what the initiator sends, and of what the responder sends. */
    readonly initiatorKey: string;
    readonly responderKey: string;
  };
  /** A key is used for this many records, then the next one is derived. */
  readonly rekeyEvery: number;
  /** Records of one direction. A session ends with them; nonces are never used twice. */
  readonly records: number;
  /** How far behind the newest one a record may arrive. 0: only in order. */
  readonly window: number;
  /** The largest plaintext. */
  readonly recordBytes: number;
  /** The largest associated data. */
  readonly associatedBytes: number;
  /** A session without a valid record for this long has ended. */
  readonly idleMs: number;
  readonly lifetimeMs: number;
}

/** The records of protocols that define none of their own. */
export const SEALED_RECORDS: RecordProfile = Object.freeze({
  cipher: "aes-256-gcm",
  labels: { record: "koine-record|1", initiatorKey: "koine-initiator-key|1", responderKey: "koine-responder-key|1" },
  rekeyEvery: 1_024,
  records: 1_000_000,
  window: 1_024,
  recordBytes: 8 * 1_024 * 1_024,
  associatedBytes: 4_096,
  idleMs: 600_000,
  lifetimeMs: 3_600_000,
});
