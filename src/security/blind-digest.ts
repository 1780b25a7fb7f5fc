import { hash, randomBytes } from "node:crypto";

/** A digest nobody outside this process can compute. */
export type BlindDigest = (text: string) => string;

/**
 * Secrets are looked up by a digest under a key of this process: the time a lookup takes then tells nothing about them, and
 * nothing that is kept can print one.
 */
export function blindDigest(): BlindDigest {
  const blind = randomBytes(12).toString("base64"); // with a usual token still one block of SHA-256
  return (text) => hash("sha256", blind + text, "base64");
}
