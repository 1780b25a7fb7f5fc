import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Maybe } from "../envelope/index.js";

/** AES-128-GCM without associated data, for formats that prescribe it. New formats use `sealed-records/`. */

const CIPHER = "aes-128-gcm";
const TAG_BYTES = 16;
const IV_BYTES = 12;

/** The parts of a sealed message. */
export interface AesGcmParts {
  readonly iv: Uint8Array;
  readonly tag: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/** With a random initialisation vector. `key`: 16 bytes. */
export function sealAesGcm(key: Uint8Array, plain: Uint8Array): AesGcmParts {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  return { iv, tag: cipher.getAuthTag(), ciphertext };
}

/** Undefined if it was not sealed with this key, or was altered. A tag or vector of another length is refused. */
export function openAesGcm(key: Uint8Array, { iv, tag, ciphertext }: AesGcmParts): Maybe<Uint8Array> {
  if (iv.length !== IV_BYTES || tag.length !== TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    return undefined;
  }
}
