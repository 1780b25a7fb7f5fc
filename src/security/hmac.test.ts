import { createHmac, createSecretKey } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hmacSha256 } from "./hmac.js";

const hex = (text: string): Buffer => Buffer.from(text, "hex");
const key = (bytes: Uint8Array) => createSecretKey(bytes);

describe("HMAC-SHA-256", () => {
  /** RFC 4231 §4.2, §4.3, §4.4, §4.7 and §4.8. */
  test.each([
    [hex("0b".repeat(20)), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
    [Buffer.from("Jefe"), "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
    [hex("aa".repeat(20)), hex("dd".repeat(50)), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
    [
      hex("aa".repeat(131)),
      "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ],
    [
      hex("aa".repeat(131)),
      "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.",
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
    ],
  ])("of RFC 4231 (%#)", (secret, message, expected) => {
    expect(hmacSha256(key(secret), Buffer.from(message)).toString("hex")).toBe(expected);
    if (typeof message === "string") expect(hmacSha256(key(secret), message).toString("hex")).toBe(expected);
  });

  test("is that of node:crypto for any keys and messages, one after the other", () => {
    const secrets = fc.uint8Array({ minLength: 1, maxLength: 200 }).map(key);
    // With those that are too long for two hashes.
    const messages = fc.oneof(
      fc.uint8Array({ maxLength: 700 }),
      fc.constantFrom(4_095, 4_096, 4_097).map((size) => new Uint8Array(size)),
    );
    fc.assert(
      fc.property(fc.array(secrets, { minLength: 1, maxLength: 3 }), fc.array(messages, { maxLength: 9 }), (keys, all) => {
        for (const [index, message] of all.entries()) {
          const one = keys[index % keys.length] as (typeof keys)[number]; // there is one at least
          expect(hmacSha256(one, message)).toEqual(createHmac("sha256", one).update(message).digest());
        }
      }),
      { numRuns: 200, seed: 20 },
    );
  });

  test("returns bytes that the next one does not change", () => {
    const one = key(hex("01".repeat(32)));
    const first = hmacSha256(one, hex("01"));
    const before = Buffer.from(first);
    hmacSha256(one, hex("02"));
    expect(first).toEqual(before);
  });
});
