import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/** Hashes and random values for protocols, which do not use the built-ins of Node themselves. */

/** 32 bytes. */
export function sha256(content: string | Uint8Array): Uint8Array {
  return createHash("sha256").update(content).digest();
}

/** A code for texts under a secret of this process: 32 bytes in base64url. */
export class TextMac {
  readonly #secret = randomBytes(32);

  of(text: string): string {
    return createHmac("sha256", this.#secret).update(text).digest("base64url");
  }

  /** In constant time. */
  matches(text: string, given: string): boolean {
    const [a, b] = [Buffer.from(this.of(text)), Buffer.from(given)];
    return a.length === b.length && timingSafeEqual(a, b);
  }
}

/** Random bytes in hexadecimal. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

/** 20 bytes: what addresses of Bitcoin are made of. Only where an old format asks for it. */
export function ripemd160(content: Uint8Array): Uint8Array {
  return createHash("ripemd160").update(content).digest();
}

/** HKDF of RFC 5869 with SHA-256, both steps. */
export function hkdfSha256(secret: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, salt, info, bytes));
}
