import { randomFillSync } from "node:crypto";
import type { SignatureProfile } from "./profile.js";

/** Nonces that are drawn and written at once: each call of the random number generator or of an encoder costs more than the bytes. */
const NONCES_AT_ONCE = 256;
const DEFAULT_NONCE = { bytes: 16, encoding: "base64url" } as const;
/** Bytes that are written as whole characters. */
const GROUP = { hex: 1, base64url: 3 } as const;

/** A source of nonces for signatures. Each byte is used once. */
export function noncePool(form: SignatureProfile["nonce"]): () => string {
  const { bytes, encoding } = form ?? DEFAULT_NONCE;
  const group = GROUP[encoding];
  // A nonce begins with a character of its own. Zeros fill its last group: a nonce by itself is written the same way.
  const stride = Math.ceil(bytes / group) * group;
  const pool = Buffer.alloc(stride * NONCES_AT_ONCE);
  const chars = pool.toString(encoding, 0, bytes).length;
  const strideChars = pool.toString(encoding, 0, stride).length;
  let text = "";
  let at = 0;
  return () => {
    if (at === text.length) {
      randomFillSync(pool);
      for (let end = stride; end <= pool.length; end += stride) pool.fill(0, end - stride + bytes, end);
      text = pool.toString(encoding);
      at = 0;
    }
    at += strideChars;
    return text.slice(at - strideChars, at - strideChars + chars);
  };
}
