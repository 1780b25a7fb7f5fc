import { createHmac, randomBytes } from "node:crypto";

/** A name of a caller's own, as somebody else may see it: nobody can tell from it whose it is, and no two callers share one. */
export type Pseudonymizer = (owner: string, kind: string, value: string) => string;

/** With this few bytes a secret can be guessed. */
export const PSEUDONYM_SECRET_BYTES = 16;
const UUID_BYTES = 16;
/** RFC 9562 §5.8: version 8 is for values made in one's own way. */
const VERSION = 0x80;
const VARIANT = 0x80;

/**
 * Names that are the same each time, for processes that share the secret, and say nothing to others: an HMAC in the form of
 * a UUID, which every protocol takes. Without a secret the names change when the process ends.
 */
export function createPseudonymizer(agent: string, secret: Uint8Array = randomBytes(UUID_BYTES * 2)): Pseudonymizer {
  if (secret.length < PSEUDONYM_SECRET_BYTES) throw new TypeError(`the secret has at least ${PSEUDONYM_SECRET_BYTES} bytes`);
  return (owner, kind, value) => {
    const digest = createHmac("sha256", secret)
      .update(JSON.stringify([agent, kind, owner, value]))
      .digest();
    digest[6] = ((digest[6] ?? 0) & 0x0f) | VERSION;
    digest[8] = ((digest[8] ?? 0) & 0x3f) | VARIANT;
    const hex = digest.toString("hex", 0, UUID_BYTES);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}
