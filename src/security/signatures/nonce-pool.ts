import { randomFillSync } from "node:crypto";
import type { SignatureProfile } from "./profile.js";

/** Nonces that are drawn at once: one call of the random number generator costs as much as filling a few kilobytes. */
const NONCES_AT_ONCE = 256;
const DEFAULT_NONCE = { bytes: 16, encoding: "base64url" } as const;

/** A source of nonces for signatures. Each byte is used once. */
export function noncePool(form: SignatureProfile["nonce"]): () => string {
  const { bytes, encoding } = form ?? DEFAULT_NONCE;
  const pool = Buffer.alloc(bytes * NONCES_AT_ONCE);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    at += bytes;
    return pool.toString(encoding, at - bytes, at);
  };
}
