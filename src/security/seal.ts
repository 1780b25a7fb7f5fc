import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { Maybe } from "../envelope/index.js";
import { PSEUDONYM_SECRET_BYTES } from "./pseudonymize.js";

/** Encrypts text that is stored where others can read it. */
export interface Seal {
  /** `about` must be equal when opening: a sealed text cannot be used in place of another's. */
  close(text: string, about: string): string;
  /** Undefined if it was not sealed with this secret, for this purpose and `about`. */
  open(sealed: string, about: string): Maybe<string>;
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Version prefix of the format. */
const FORM = "s1.";
/** Longer texts are refused without decrypting. */
const MAX_SEALED_CHARS = 16_384;

/**
 * AES-256-GCM with a purpose-specific key derived from the secret (HKDF, RFC 5869). Nonces are random: safe for 2^32 uses of one
 * secret.
 */
export function createSeal(secret: Uint8Array, purpose: string): Seal {
  if (secret.length < PSEUDONYM_SECRET_BYTES)
    throw new TypeError(`the secret must have at least ${PSEUDONYM_SECRET_BYTES} bytes`);
  const key = Buffer.from(hkdfSync("sha256", secret, "", `koine seal ${purpose}`, KEY_BYTES));
  return {
    close(text, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(about));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return FORM + Buffer.concat([nonce, body, cipher.getAuthTag()]).toString("base64url");
    },
    open(sealed, about) {
      if (!sealed.startsWith(FORM) || sealed.length > MAX_SEALED_CHARS) return undefined;
      const bytes = Buffer.from(sealed.slice(FORM.length), "base64url");
      const end = bytes.length - TAG_BYTES;
      if (end < NONCE_BYTES) return undefined;
      const options = { authTagLength: TAG_BYTES };
      const cipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), options)
        .setAAD(Buffer.from(about))
        .setAuthTag(bytes.subarray(end));
      try {
        return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, end)), cipher.final()]).toString("utf8");
      } catch {
        return undefined; // another secret or subject, or tampered with: indistinguishable
      }
    },
  };
}

/** A secret for processes without a configured one: sealed texts can be opened until the process ends. */
export function newSecret(): Uint8Array {
  return randomBytes(KEY_BYTES);
}
