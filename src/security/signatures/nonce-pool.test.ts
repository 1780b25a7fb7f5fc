import { describe, expect, test } from "vitest";
import { noncePool } from "./nonce-pool.js";

describe("a source of nonces", () => {
  test.each([
    [undefined, 16, "base64url"],
    [{ bytes: 16, encoding: "hex" } as const, 16, "hex"],
    [{ bytes: 15, encoding: "base64url" } as const, 15, "base64url"],
    [{ bytes: 17, encoding: "base64url" } as const, 17, "base64url"],
  ] as const)("writes each as its bytes are written by themselves: %o", (form, bytes, encoding) => {
    const next = noncePool(form);
    // More than are drawn at once.
    const nonces = Array.from({ length: 700 }, next);
    for (const nonce of nonces) {
      const read = Buffer.from(nonce, encoding);
      expect([read.length, read.toString(encoding)]).toEqual([bytes, nonce]);
    }
    expect(new Set(nonces).size).toBe(nonces.length);
    // Every byte is random: none is the same in all of them.
    for (let at = 0; at < bytes; at++)
      expect(new Set(nonces.map((nonce) => Buffer.from(nonce, encoding)[at])).size).toBeGreaterThan(100);
  });
});
