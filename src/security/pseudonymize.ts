import { createSecretKey, randomBytes } from "node:crypto";
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
  return (owner, kind, value) => {
    const digest = hmacSha256(key, JSON.stringify([agent, kind, owner, value]));
    digest[6] = ((digest[6] ?? 0) & 0x0f) | VERSION;
    digest[8] = ((digest[8] ?? 0) & 0x3f) | VARIANT;
    const hex = digest.toString("hex", 0, UUID_BYTES);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}
