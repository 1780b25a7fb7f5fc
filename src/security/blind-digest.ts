import { hash, randomBytes } from "node:crypto";

/** A keyed digest that only this process can compute. */
export type BlindDigest = (text: string) => string;

/**
 * Secrets are looked up by a digest under a per-process key: lookup timing reveals nothing about them, and nothing kept in memory can
 * be printed as a secret.
 */
export function blindDigest(): BlindDigest {
  const key = randomBytes(12).toString("base64"); // with a typical token still one block of SHA-256
  return (text) => hash("sha256", key + text, "base64");
}
