import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ephemeralKey, transcriptHash } from "./index.js";

const bytes = (hex: string): Uint8Array => Buffer.from(hex, "hex");
const hex = (some: Uint8Array): string => Buffer.from(some).toString("hex");

describe("an ephemeral key", () => {
  test("agrees as in RFC 7748 §6.1", () => {
    const alice = ephemeralKey(bytes(ALICE));
    const bob = ephemeralKey(bytes(BOB));
    expect(hex(alice.publicBytes)).toBe("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    expect(hex(bob.publicBytes)).toBe("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    const shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
    expect([hex(alice.agree(bob.publicBytes)), hex(bob.agree(alice.publicBytes))]).toEqual([shared, shared]);
  });

  test("is another one each time, and refuses what is no key", () => {
    const key = ephemeralKey();
    expect(hex(key.publicBytes)).not.toBe(hex(ephemeralKey().publicBytes));
    for (const peer of [new Uint8Array(31), new Uint8Array(33), new Uint8Array(32), bytes(`01${"00".repeat(31)}`)])
      expect(() => key.agree(peer)).toThrow(expect.objectContaining({ code: "bad_peer" }));
  });
});

/** RFC 7748 §6.1. */
const ALICE = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
const BOB = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";

test("the hash of a transcript depends on where a message ends", () => {
  const text = (words: readonly string[]) => words.map((word) => new TextEncoder().encode(word));
  const own = createHash("sha256").update("label\0\0\0\u0002ab\0\0\0\u0001c").digest("hex");
  expect(hex(transcriptHash("label", text(["ab", "c"])))).toBe(own);
  expect(hex(transcriptHash("label", text(["a", "bc"])))).not.toBe(own);
});
