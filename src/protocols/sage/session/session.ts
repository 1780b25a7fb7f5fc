import type { Maybe } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import type { PublicKey } from "../../../security/identity/index.js";
import { expand, SealedChannel } from "../../../security/sealed-records/index.js";
import { type MessageSigningKey, SharedSecret, type VerificationKey } from "../../../security/signatures/index.js";
import { LABELS, RECORDS, SESSION_LIMITS } from "./profile.js";
import { openRecord, SessionError, type SessionReason, sealRecord } from "./session-error.js";
import { newStreamId, StreamReader, StreamWriter, streamChannel } from "./stream.js";

/** What a handshake agreed on. */
export interface SessionStart {
  /** 32 bytes that only both sides know. */
  readonly secret: Uint8Array;
  /** The hash of the handshake, 32 bytes. */
  readonly transcript: Uint8Array;
  readonly role: "initiator" | "responder";
  /** The id that the responder gave the session: `keyid` of its signatures. */
  readonly keyId: string;
  readonly ownDid: string;
  readonly peerDid: string;
  /** The keys of both sides that the handshake used. The session ends with the first of them. */
  readonly pinned: readonly PublicKey[];
  /** How long a responder waits for the first valid message. */
  readonly pendingMs: number;
  /** Default: an hour from now. Never later. */
  readonly expiresAt?: Maybe<number>;
  /** Milliseconds since the epoch. */
  now(): number;
}

const SESSION_ID_BYTES = 16;

/**
 * A session of two DIDs, with its fields as SAGE names them. The encryption and signing keys are inside, one for each direction: nothing
 * returns, prints or serialises them. A session lives in one process and ends with it.
 */
export class SageSession {
  readonly sessionId: string;
  readonly keyId: string;
  readonly ownDid: string;
  readonly peerDid: string;
  readonly role: "initiator" | "responder";
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly #channel: SealedChannel;
  readonly #sendMac: SharedSecret;
  readonly #receiveMac: SharedSecret;
  readonly #streamSecret: Uint8Array;
  readonly #transcript: Uint8Array;
  readonly #pinned: readonly PublicKey[];
  readonly #pendingMs: number;
  readonly #now: () => number;
  /** Ids of streams in both directions: with the same id two streams would have the same keys. */
  readonly #streamIds = new Set<string>();
  readonly #streams = new Set<SealedChannel>();
  #expiresAt: number;
  #confirmed: boolean;
  #received = 0;
  #signed = 0;
  #ended: Maybe<SessionReason>;

  constructor({ secret, transcript, role, keyId, ownDid, peerDid, pinned, pendingMs, expiresAt, now }: SessionStart) {
    const ends = pinned.flatMap(({ expires }) => (expires === undefined ? [] : [expires]));
    this.createdAt = now();
    this.#expiresAt = Math.min(this.createdAt + RECORDS.lifetimeMs, expiresAt ?? Number.POSITIVE_INFINITY, ...ends);
    this.sessionId = base64url(sha256(Buffer.concat([Buffer.from(LABELS.session), transcript])).subarray(0, SESSION_ID_BYTES));
    this.keyId = keyId;
    this.ownDid = ownDid;
    this.peerDid = peerDid;
    this.role = role;
    this.#channel = new SealedChannel({ secret, transcript, role, profile: RECORDS, now });
    const macs = [LABELS.initiatorMac, LABELS.responderMac].map((label) => new SharedSecret(expand(secret, label, transcript)));
    const [sendMac, receiveMac] = (role === "initiator" ? macs : macs.reverse()) as [SharedSecret, SharedSecret]; // two labels
    this.#sendMac = sendMac;
    this.#receiveMac = receiveMac;
    this.#streamSecret = expand(secret, LABELS.streams, transcript);
    this.#transcript = transcript;
    this.#pinned = pinned;
    this.#pendingMs = pendingMs;
    this.#confirmed = role === "initiator";
    this.#now = now;
  }

  /** Milliseconds since the epoch. It moves closer when a key of the session gets an end. */
  get expiresAt(): number {
    return this.#expiresAt;
  }

  /** Whether it has not ended: what the peer sends can be read. */
  get isOpen(): boolean {
    return this.#endedNow() === undefined;
  }

  /** Whether it can be sent with. A session that has carried all its messages cannot. */
  get isUsable(): boolean {
    return this.isOpen && this.#channel.remaining > 0 && this.#signed < SESSION_LIMITS.messages;
  }

  /** Whether the peer has proved that it has the keys. A responder sends nothing before. */
  get isConfirmed(): boolean {
    return this.#confirmed;
  }

  /** Whether one of its limits is near: prepare the next session. */
  get isNearEnd(): boolean {
    const { messages, prepareAt } = SESSION_LIMITS;
    const used =
      Math.max(RECORDS.records - this.#channel.remaining, this.#received, this.#signed, this.#streamIds.size) / messages;
    const age = (this.#now() - this.createdAt) / (this.#expiresAt - this.createdAt);
    return used >= prepareAt || age >= prepareAt;
  }

  /** A record: its number, its nonce, ciphertext and tag. `associated` travels elsewhere, and must be the same on the other side. */
  encrypt(plaintext: Uint8Array, associated: Uint8Array): Uint8Array {
    this.#checkSending();
    return sealRecord(this.#channel, plaintext, associated);
  }

  /** Accepts each record once, up to 1,024 numbers late. A refused one changes nothing. */
  decrypt(record: Uint8Array, associated: Uint8Array): Uint8Array {
    this.checkOpen();
    const plaintext = openRecord(this.#channel, record, associated);
    this.#received++;
    this.#confirmed = true;
    return plaintext;
  }

  /** HMAC-SHA256 with the key of this direction. */
  sign(bytes: Uint8Array): Uint8Array {
    this.#checkSending();
    if (this.#signed >= SESSION_LIMITS.messages) throw new SessionError("session.exhausted");
    this.#signed++;
    return this.#sendMac.sign(bytes);
  }

  /** Whether the peer signed this. What this side signed itself is not by the peer. */
  verify(bytes: Uint8Array, signature: Uint8Array): boolean {
    this.checkOpen();
    const valid = this.#receiveMac.verify(bytes, signature);
    if (valid) this.#confirmed = true;
    return valid;
  }

  /** For a `MessageSigner` of RFC 9421 with `hmac-sha256` and this session's `keyId`. */
  signingKey(): MessageSigningKey {
    return { keyId: this.keyId, algorithm: "hmac-sha256", sign: (base) => this.sign(base) };
  }

  /** For a `SignatureVerifier` of RFC 9421. Not for users: it holds a key. Call `confirm` when a signature was valid. */
  verificationKey(): VerificationKey {
    this.checkOpen();
    return this.#receiveMac.verificationKey();
  }

  /** The peer proved that it has the keys: a responder may send from now on. */
  confirm(): void {
    this.checkOpen();
    this.#confirmed = true;
  }

  /** Begins a stream to the peer, with keys of its own. `id`: for test vectors. */
  openStream(id: string = newStreamId()): StreamWriter {
    this.#checkSending();
    return new StreamWriter(id, this.#newStream(id, this.role));
  }

  /** Reads a stream of the peer. Each id is read once. */
  readStream(id: string): StreamReader {
    this.checkOpen();
    return new StreamReader(id, this.#newStream(id, this.role === "initiator" ? "responder" : "initiator"));
  }

  /**
   * Compares the keys that a DID has now with those of the handshake. Throws `key.revoked` and closes the session if one of them was
   * revoked, replaced or has expired; other keys do not matter.
   */
  checkKeys(did: string, keys: readonly PublicKey[]): void {
    for (const pin of this.#pinned.filter(({ id }) => id.startsWith(`${did}#`))) {
      const key = keys.find(({ id }) => id === pin.id);
      if (key === undefined || key.kind !== pin.kind || Buffer.compare(key.bytes, pin.bytes) !== 0) {
        this.close("key.revoked");
        throw new SessionError("key.revoked");
      }
      if (key.expires !== undefined && key.expires < this.#expiresAt) this.#expiresAt = key.expires;
    }
    this.checkOpen();
  }

  /** Throws the reason for which it has ended. */
  checkOpen(): void {
    const ended = this.#endedNow();
    if (ended === undefined) return;
    this.close(ended);
    throw new SessionError(ended);
  }

  /** Ends the session and its streams on this side. */
  close(reason: SessionReason = "session.closed"): void {
    this.#ended ??= reason;
    this.#channel.close();
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
  }

  /** What may be shown of it. */
  toJSON(): { readonly [name: string]: string | number } {
    const { sessionId, keyId, peerDid, createdAt, expiresAt } = this;
    return { sessionId, keyId, peerDid, createdAt, expiresAt };
  }

  #newStream(id: string, sender: "initiator" | "responder"): SealedChannel {
    const used = `${sender} ${id}`;
    if (this.#streamIds.has(used)) throw new SessionError("stream.id");
    if (this.#streamIds.size >= SESSION_LIMITS.messages) throw new SessionError("session.exhausted");
    const channel = streamChannel(id, {
      secret: this.#streamSecret,
      transcript: this.#transcript,
      role: this.role,
      lifetimeMs: this.#expiresAt - this.#now(),
      now: this.#now,
    });
    this.#streamIds.add(used);
    for (const other of this.#streams) if (!other.isOpen) this.#streams.delete(other);
    this.#streams.add(channel);
    return channel;
  }

  #checkSending(): void {
    this.checkOpen();
    if (!this.#confirmed) throw new SessionError("session.provisional");
  }

  #endedNow(): Maybe<SessionReason> {
    if (this.#ended !== undefined) return this.#ended;
    const now = this.#now();
    const isLate = !this.#confirmed && now - this.createdAt >= this.#pendingMs;
    return isLate || now >= this.#expiresAt || !this.#channel.isOpenAt(now) ? "session.expired" : undefined;
  }
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}
