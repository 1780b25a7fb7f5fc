import type { KeyObject } from "node:crypto";

/** What threads have to know of the form of a round. */
export const RECORDS = {
  /** Words of `control`: how many records were claimed, and how many published, with a bit that says that no more will be. */
  CLAIMED: 0,
  PUBLISHED: 1,
  CLOSED: 0x4000_0000,
  /** A record is the key, the signature and what was signed; empty if the signature has another length, and cannot be valid. */
  KEY_BYTES: 32,
  SIGNATURE_BYTES: 64,
  /** Results. Zero: not verified. */
  VALID: 1,
  INVALID: 2,
} as const;

/** Records of one round, and their bytes together. */
const [MAX_RECORDS, MAX_BYTES] = [256, 1024 * 1024];
const HEAD_BYTES = RECORDS.KEY_BYTES + RECORDS.SIGNATURE_BYTES;

/** An Ed25519 signature, and what it should be over. */
export interface Ed25519Signature {
  readonly key: KeyObject;
  readonly base: Uint8Array;
  readonly signature: Uint8Array;
}

/** Signatures that several threads verify: one publishes them, each claims one after the other. The memory is used again in each round. */
export class SharedRound {
  readonly control = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  /** Of each record where it begins and ends. */
  readonly places = new Int32Array(new SharedArrayBuffer(2 * MAX_RECORDS * Int32Array.BYTES_PER_ELEMENT));
  readonly results = new Uint8Array(new SharedArrayBuffer(MAX_RECORDS));
  readonly bytes = new Uint8Array(new SharedArrayBuffer(MAX_BYTES));
  #records = 0;
  #used = 0;

  /** No thread may be in the round before. */
  begin(): void {
    [this.#records, this.#used] = [0, 0];
    this.results.fill(0);
    Atomics.store(this.control, RECORDS.CLAIMED, 0);
    Atomics.store(this.control, RECORDS.PUBLISHED, 0);
  }

  /** Publishes one record; false if there is no room for it. */
  publish({ key, base, signature }: Ed25519Signature): boolean {
    const hasLength = signature.length === RECORDS.SIGNATURE_BYTES;
    const end = hasLength ? this.#used + HEAD_BYTES + base.length : this.#used;
    if (this.#records === MAX_RECORDS || end > MAX_BYTES) return false;
    if (hasLength) {
      this.bytes.set(rawKey(key), this.#used);
      this.bytes.set(signature, this.#used + RECORDS.KEY_BYTES);
      this.bytes.set(base, this.#used + HEAD_BYTES);
    }
    this.places[2 * this.#records] = this.#used;
    this.places[2 * this.#records + 1] = end;
    this.#used = end;
    this.#tell(++this.#records);
    return true;
  }

  /** No more records: whoever waits for one goes. */
  close(): void {
    this.#tell(this.#records | RECORDS.CLOSED);
  }

  /** The next record that nobody has; undefined if all of them are claimed. */
  claim(): number | undefined {
    const index = Atomics.add(this.control, RECORDS.CLAIMED, 1);
    return index < this.#records ? index : undefined;
  }

  /** Undefined: nobody verified it. */
  result(index: number): boolean | undefined {
    const result = Atomics.load(this.results, index);
    return result === 0 ? undefined : result === RECORDS.VALID;
  }

  /** The word changes each time, so that no thread goes to sleep after it was told. */
  #tell(published: number): void {
    Atomics.store(this.control, RECORDS.PUBLISHED, published);
    Atomics.notify(this.control, RECORDS.PUBLISHED);
  }
}

const rawKeys = new WeakMap<KeyObject, Uint8Array>();

function rawKey(key: KeyObject): Uint8Array {
  const known = rawKeys.get(key);
  if (known !== undefined) return known;
  const { crv, x = "" } = key.export({ format: "jwk" });
  if (crv !== "Ed25519") throw new TypeError("the key of an Ed25519 signature is of another kind");
  const raw = Buffer.from(x, "base64url");
  rawKeys.set(key, raw);
  return raw;
}
