import { inspect } from "node:util";
import { expect, test } from "vitest";
import { verifyBase } from "./algorithms.js";
import { SharedSecret } from "./shared-secret.js";

const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");

/** RFC 4231 §4.4 has a key of 25 bytes; ours are at least 32, so this is its §4.7 with the key of 131 bytes. */
const KEY = Buffer.alloc(131, 0xaa);
const DATA = Buffer.from("Test Using Larger Than Block-Size Key - Hash Key First");
const MAC = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";

test("a shared secret signs and verifies hmac-sha256", () => {
  const secret = new SharedSecret(KEY);
  const signature = secret.sign(DATA);
  expect(Buffer.from(signature).toString("hex")).toBe(MAC);
  expect(secret.verify(DATA, bytes(MAC))).toBe(true);
  expect(secret.verify(DATA, bytes(`00${MAC.slice(2)}`))).toBe(false);
  expect(secret.verify(DATA, bytes(MAC.slice(2)))).toBe(false);
  expect(Buffer.from(secret.signingKey("k").sign(DATA) as Uint8Array)).toEqual(bytes(MAC));
  const { algorithm, key } = secret.verificationKey();
  expect([algorithm, verifyBase(algorithm, key, DATA, bytes(MAC))]).toEqual(["hmac-sha256", true]);
});

test("it is not shown, and not too short", () => {
  const secret = new SharedSecret(Buffer.alloc(32, 0xab));
  expect(inspect(secret, { showHidden: true, depth: 9 }) + JSON.stringify({ ...secret, secret })).not.toMatch(/abab|171|,/);
  expect(() => new SharedSecret(new Uint8Array(31))).toThrow("at least 32 bytes");
});
