import {
  type CipherChaCha20Poly1305,
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  type DecipherChaCha20Poly1305,
  type DecipherGCM,
  type KeyObject,
} from "node:crypto";
import { DirectionKeys, KEY_BYTES } from "./key-schedule.js";
import { RecordError } from "./record-error.js";
import type { RecordCipher, RecordProfile } from "./record-profile.js";
import { ReplayWindow } from "./replay-window.js";

export interface ChannelStart {
  /** 32 bytes that only both sides know: `sessionSecret`. A channel is made of it once, in one process, and never stored. */
  readonly secret: Uint8Array;
  /** The hash of the handshake, 32 bytes. */
  readonly transcript: Uint8Array;
  readonly role: "initiator" | "responder";
  readonly profile: RecordProfile;
  /** Milliseconds since the epoch. */
  now(): number;
}

const SEQUENCE_BYTES = 8;
const NONCE_BYTES = 12;
const HEAD_BYTES = SEQUENCE_BYTES + NONCE_BYTES;
const TAG_BYTES = 16;
/** Of the length of the caller's associated data. */
const LENGTH_BYTES = 4;
const TAG = { authTagLength: TAG_BYTES } as const;
const INITIATOR = 0;
const RESPONDER = 1;

/**
 * One side of a sealed session. A record is its sequence number (8 bytes), its nonce (four zeros and the number again), the ciphertext
 * and the tag. The associated data bind session, direction, number and what the caller adds.
 */
export class SealedChannel {
  readonly #profile: RecordProfile;
  readonly #now: () => number;
  readonly #startedMs: number;
  readonly #sendKeys: DirectionKeys;
  readonly #receiveKeys: DirectionKeys;
  readonly #sendBound: BoundData;
  readonly #receiveBound: BoundData;
  readonly #window: ReplayWindow;
  /** Written for each record: a cipher copies its nonce. */
  readonly #nonce = Buffer.alloc(NONCE_BYTES);
  #usedMs: number;
  #sent = 0;
  #closed = false;

  constructor({ secret, transcript, role, profile, now }: ChannelStart) {
    if (secret.length !== KEY_BYTES || transcript.length !== KEY_BYTES)
      throw new TypeError(`the secret and the transcript hash of a session have ${KEY_BYTES} bytes each`);
    const { labels } = profile;
    const own = role === "initiator" ? INITIATOR : RESPONDER;
    const keys = [
      new DirectionKeys(secret, labels.initiatorKey, transcript),
      new DirectionKeys(secret, labels.responderKey, transcript),
    ] as const;
    const [sendKeys, receiveKeys] = own === INITIATOR ? keys : [keys[1], keys[0]];
    this.#profile = profile;
    this.#now = now;
    this.#startedMs = now();
    this.#usedMs = this.#startedMs;
    this.#sendKeys = sendKeys;
    this.#receiveKeys = receiveKeys;
    this.#sendBound = new BoundData(boundStart(labels.record, transcript, own), profile.associatedBytes);
    this.#receiveBound = new BoundData(boundStart(labels.record, transcript, 1 - own), profile.associatedBytes);
    this.#window = new ReplayWindow(profile.window);
  }

  /** How many more records may be sent: prepare the next session in time. */
  get remaining(): number {
    return this.#closed ? 0 : this.#profile.records - this.#sent;
  }

  /** Whether it is neither closed nor too old nor idle for too long. */
  get isOpen(): boolean {
    return this.isOpenAt(this.#now());
  }

  /** The same for a caller that has the time already. */
  isOpenAt(now: number): boolean {
    return !this.#closed && this.#isInTime(now);
  }

  /** Seals a message. Its number is used up even if it is never sent; a repetition must be the same bytes. */
  seal(plaintext: Uint8Array, associated: Uint8Array): Uint8Array {
    const now = this.#checkOpen();
    const { cipher: name, rekeyEvery, records, recordBytes, associatedBytes } = this.#profile;
    if (plaintext.length > recordBytes || associated.length > associatedBytes) throw new RecordError("too_large");
    if (this.#sent >= records) throw new RecordError("exhausted");
    const sequence = this.#sent++;
    const generation = Math.floor(sequence / rekeyEvery);
    const key = this.#sendKeys.of(generation);
    this.#sendKeys.keep(generation, key, generation);
    const record = Buffer.allocUnsafe(HEAD_BYTES + plaintext.length + TAG_BYTES);
    writeNumber(record, 0, sequence);
    writeNonce(record, SEQUENCE_BYTES, sequence);
    writeNonce(this.#nonce, 0, sequence);
    const cipher = encryptor(name, key, this.#nonce);
    cipher.setAAD(this.#sendBound.of(sequence, associated), { plaintextLength: plaintext.length });
    record.set(cipher.update(plaintext), HEAD_BYTES);
    cipher.final();
    record.set(cipher.getAuthTag(), HEAD_BYTES + plaintext.length);
    this.#usedMs = now;
    return record;
  }

  /** Opens a record. A refused one changes nothing: neither the window nor the time of the last use. */
  open(record: Uint8Array, associated: Uint8Array): Uint8Array {
    const now = this.#checkOpen();
    const { cipher: name, rekeyEvery, records, recordBytes, associatedBytes } = this.#profile;
    const end = record.length - TAG_BYTES;
    if (end < HEAD_BYTES) throw new RecordError("truncated");
    if (end - HEAD_BYTES > recordBytes || associated.length > associatedBytes) throw new RecordError("too_large");
    const sequence = sequenceOf(record);
    if (sequence >= records) throw new RecordError("out_of_range");
    const problem = this.#window.check(sequence);
    if (problem !== undefined) throw new RecordError(problem);
    const generation = Math.floor(sequence / rekeyEvery);
    const key = this.#receiveKeys.of(generation);
    writeNonce(this.#nonce, 0, sequence);
    const decipher = decryptor(name, key, this.#nonce);
    decipher.setAAD(this.#receiveBound.of(sequence, associated), { plaintextLength: end - HEAD_BYTES });
    decipher.setAuthTag(record.subarray(end));
    const plaintext = decipher.update(record.subarray(HEAD_BYTES, end));
    try {
      decipher.final();
    } catch {
      plaintext.fill(0); // nobody reads what was not verified
      throw new RecordError("wrong");
    }
    this.#window.mark(sequence);
    this.#receiveKeys.keep(generation, key, Math.floor(this.#window.oldest / rekeyEvery));
    this.#usedMs = now;
    return plaintext;
  }

  /** Ends the session on this side. */
  close(): void {
    this.#closed = true;
  }

  /** Returns the time. */
  #checkOpen(): number {
    if (this.#closed) throw new RecordError("closed");
    const now = this.#now();
    if (this.#isInTime(now)) return now;
    this.#closed = true;
    throw new RecordError("expired");
  }

  #isInTime(now: number): boolean {
    return now - this.#usedMs < this.#profile.idleMs && now - this.#startedMs < this.#profile.lifetimeMs;
  }
}

function boundStart(label: string, transcript: Uint8Array, direction: number): Uint8Array {
  return Buffer.concat([Buffer.from(label), transcript, Uint8Array.of(direction)]);
}

/** The associated data of the cipher: session, direction, sequence, and the caller's with its length. In place: each is used at once. */
class BoundData {
  readonly #bytes: Buffer;
  readonly #at: number;
  /** The part in use. Its length seldom changes, and a view costs more than writing into it. */
  #used: Buffer;

  constructor(start: Uint8Array, associatedBytes: number) {
    this.#at = start.length;
    this.#bytes = Buffer.alloc(start.length + SEQUENCE_BYTES + LENGTH_BYTES + associatedBytes);
    this.#bytes.set(start);
    this.#used = this.#bytes;
  }

  of(sequence: number, associated: Uint8Array): Uint8Array {
    const lengthAt = this.#at + SEQUENCE_BYTES;
    const length = lengthAt + LENGTH_BYTES + associated.length;
    if (this.#used.length !== length) this.#used = this.#bytes.subarray(0, length);
    writeNumber(this.#bytes, this.#at, sequence);
    writeWord(this.#bytes, lengthAt, associated.length);
    this.#bytes.set(associated, lengthAt + LENGTH_BYTES);
    return this.#used;
  }
}

const HIGH = 0x1_0000_0000;

function writeNonce(bytes: Uint8Array, at: number, sequence: number): void {
  writeWord(bytes, at, 0);
  writeNumber(bytes, at + NONCE_BYTES - SEQUENCE_BYTES, sequence);
}

function writeNumber(bytes: Uint8Array, at: number, number: number): void {
  writeWord(bytes, at, Math.floor(number / HIGH));
  writeWord(bytes, at + 4, number % HIGH);
}

/** Without the checks of `writeUInt32BE`, which cost more than the writing. */
function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24;
  bytes[at + 1] = word >>> 16;
  bytes[at + 2] = word >>> 8;
  bytes[at + 3] = word;
}

/** The nonce repeats the number, so that a record is complete by itself. It must be that number and nothing else. */
function sequenceOf(head: Uint8Array): number {
  const high = wordAt(head, 0);
  const low = wordAt(head, 4);
  if (wordAt(head, 8) !== 0 || wordAt(head, 12) !== high || wordAt(head, 16) !== low) throw new RecordError("malformed");
  return high * HIGH + low;
}

function wordAt(bytes: Uint8Array, at: number): number {
  const low = ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
  return (bytes[at] ?? 0) * 0x100_0000 + low;
}

/** The two ciphers differ for the types only. */
function encryptor(name: RecordCipher, key: KeyObject, nonce: Uint8Array): CipherGCM | CipherChaCha20Poly1305 {
  return name === "aes-256-gcm" ? createCipheriv(name, key, nonce, TAG) : createCipheriv(name, key, nonce, TAG);
}

function decryptor(name: RecordCipher, key: KeyObject, nonce: Uint8Array): DecipherGCM | DecipherChaCha20Poly1305 {
  return name === "aes-256-gcm" ? createDecipheriv(name, key, nonce, TAG) : createDecipheriv(name, key, nonce, TAG);
}
