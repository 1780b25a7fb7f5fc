import { createSecretKey, randomBytes } from "node:crypto";
import { uuidText } from "../envelope/index.js";
import { jsonString } from "../transport/json-string.js";
import { hmacSha256 } from "./hmac.js";

/** Maps a caller's own id to a pseudonym for other parties: it does not identify the caller, and no two callers share one. */
export type Pseudonymizer = (owner: string, kind: string, value: string) => string;

/** Shorter secrets can be guessed. */
export const PSEUDONYM_SECRET_BYTES = 16;
const UUID_BYTES = 16;
/** RFC 9562 §5.8: version 8 is for custom formats. */
const VERSION = 0x80;
const VARIANT = 0x80;

/**
 * Stable pseudonyms for processes that share the secret: an HMAC in the form of a UUID, which every protocol accepts. Without a secret
 * they change when the process restarts.
 */
export function createPseudonymizer(agent: string, secret: Uint8Array = randomBytes(UUID_BYTES * 2)): Pseudonymizer {
  if (secret.length < PSEUDONYM_SECRET_BYTES)
    throw new TypeError(`the secret must have at least ${PSEUDONYM_SECRET_BYTES} bytes`);
  const key = createSecretKey(secret);
  const start = `[${jsonString(agent)}`;
  return (owner, kind, value) => {
    const digest = hmacSha256(key, `${start},${jsonString(kind)},${jsonString(owner)},${jsonString(value)}]`);
    digest[6] = ((digest[6] ?? 0) & 0x0f) | VERSION;
    digest[8] = ((digest[8] ?? 0) & 0x3f) | VARIANT;
    return uuidText(digest);
  };
}
