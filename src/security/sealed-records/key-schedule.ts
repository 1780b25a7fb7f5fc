import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** SHA-256, and the size of every key. */
export const KEY_BYTES = 32;

/** HKDF-Extract of RFC 5869 with SHA-256. */
export function extract(salt: Uint8Array, secret: Uint8Array): Uint8Array {
  return createHmac("sha256", salt).update(secret).digest();
}

/** HKDF-Expand of RFC 5869 with SHA-256, for one block: all keys are that long. */
export function expand(key: Uint8Array | KeyObject, ...info: readonly (Uint8Array | string)[]): Uint8Array {
  const hmac = createHmac("sha256", key);
  for (const part of info) hmac.update(part);
  return hmac.update(ONE).digest();
}

const ONE = Uint8Array.of(1);

/**
 * The secret of a session, from what both sides agreed on and the hash of everything they said: a session whose handshake was altered
 * has other keys. `label` names the protocol and its version.
 */
export function sessionSecret(agreed: Uint8Array, transcript: Uint8Array, label: string): Uint8Array {
  return expand(extract(transcript, agreed), label, transcript);
}

/** The keys of one direction, one for each generation. */
export class DirectionKeys {
  readonly #secret: KeyObject;
  readonly #label: string;
  readonly #transcript: Uint8Array;
  readonly #kept = new Map<number, KeyObject>();
  /** The key that was kept last: nearly every record needs it. */
  #latest: { readonly generation: number; readonly key: KeyObject } | undefined;

  constructor(secret: Uint8Array, label: string, transcript: Uint8Array) {
    this.#secret = createSecretKey(secret);
    this.#label = label;
    this.#transcript = transcript;
  }

  of(generation: number): KeyObject {
    if (this.#latest?.generation === generation) return this.#latest.key;
    return this.#kept.get(generation) ?? this.#derive(generation);
  }

  /** Keeps the key of a generation that is in use, and forgets those before `oldest`. */
  keep(generation: number, key: KeyObject, oldest: number): void {
    if (this.#latest?.generation === generation || this.#kept.has(generation)) return;
    this.#kept.set(generation, key);
    this.#latest = { generation, key };
    for (const kept of this.#kept.keys()) if (kept < oldest) this.#kept.delete(kept);
  }

  #derive(generation: number): KeyObject {
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(generation));
    return createSecretKey(expand(this.#secret, this.#label, this.#transcript, number));
  }
}
