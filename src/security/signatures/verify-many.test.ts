import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Ed25519Signature, SharedRound } from "./shared-round.js";
import { VerificationThread } from "./verification-thread.js";
import { verifyMany } from "./verify-many.js";

/** RFC 8032 §7.1, test 3. */
const RFC_KEY = createPublicKey({
  key: {
    kty: "OKP",
    crv: "Ed25519",
    x: Buffer.from("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "hex").toString("base64url"),
  },
  format: "jwk",
});
const RFC_SIGNATURE: Ed25519Signature = {
  key: RFC_KEY,
  base: Buffer.from("af82", "hex"),
  signature: Buffer.from(
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    "hex",
  ),
};
const changed = ({ key, base, signature }: Ed25519Signature): Ed25519Signature => {
  const flipped = Buffer.from(base);
  flipped[0] = (flipped[0] ?? 0) ^ 1;
  return { key, base: flipped, signature };
};
const ofLength = (length: number): Ed25519Signature => ({
  ...RFC_SIGNATURE,
  signature: Buffer.concat([RFC_SIGNATURE.signature, Buffer.alloc(1)]).subarray(0, length),
});

/** Every third one is not valid. */
function signatures(count: number, bytes: number): readonly Ed25519Signature[] {
  const pairs = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
  return Array.from({ length: count }, (_, index) => {
    const { privateKey, publicKey } = pairs[index % 2] as { privateKey: KeyObject; publicKey: KeyObject }; // two
    const base = Buffer.alloc(bytes, `message ${index}`);
    const made = { key: publicKey, base, signature: sign(null, base, privateKey) };
    return index % 3 === 0 ? changed(made) : made;
  });
}
const expected = (count: number) => Array.from({ length: count }, (_, index) => index % 3 !== 0);

describe.each([true, false])("verifyMany() with threads: %s", (withThreads) => {
  test.each([
    [0, 10],
    [1, 10],
    [600, 10], // several rounds by their number
    [40, 100_000], // and by their bytes
  ])("%i signatures over %i bytes, in their order", async (count, bytes) => {
    expect(await verifyMany(signatures(count, bytes), withThreads)).toEqual(expected(count));
  });

  test("one that is larger than a round, between others", async () => {
    const [, small = RFC_SIGNATURE] = signatures(2, 10);
    const [bad = RFC_SIGNATURE, large = RFC_SIGNATURE] = signatures(2, 2 * 1024 * 1024);
    expect(await verifyMany([small, large, bad, small], withThreads)).toEqual([true, true, false, true]);
  });

  test("the vector of RFC 8032, changed, and with a signature of another length", async () => {
    const given = [RFC_SIGNATURE, changed(RFC_SIGNATURE), ofLength(63), ofLength(65), ofLength(0), RFC_SIGNATURE];
    expect(await verifyMany(given, withThreads)).toEqual([true, false, false, false, false, true]);
  });

  test("two batches at once", async () => {
    const [one, two] = [verifyMany(signatures(100, 10), withThreads), verifyMany(signatures(50, 10), withThreads)];
    expect(await Promise.all([one, two])).toEqual([expected(100), expected(50)]);
  });

  test("an error while signatures are made ends the batch, and not the next one", async () => {
    const failing = function* (): Generator<Ed25519Signature> {
      yield RFC_SIGNATURE;
      throw new Error("made wrongly");
    };
    await expect(verifyMany(failing(), withThreads)).rejects.toThrow("made wrongly");
    expect(await verifyMany([changed(RFC_SIGNATURE), RFC_SIGNATURE], withThreads)).toEqual([false, true]);
  });
});

describe("VerificationThread", () => {
  const started = async (round: SharedRound): Promise<VerificationThread> => {
    const thread = new VerificationThread(round);
    await expect.poll(() => thread.isReady, { timeout: 30_000 }).toBe(true);
    return thread;
  };

  test("verifies what is published before and after it joins", async () => {
    const round = new SharedRound();
    const thread = await started(round);
    const given = [RFC_SIGNATURE, changed(RFC_SIGNATURE), ofLength(63), ...signatures(20, 500)];
    for (let turn = 0; turn < 2; turn++) {
      round.begin();
      round.publish(given[0] ?? RFC_SIGNATURE);
      const done = thread.join();
      for (const each of given.slice(1)) round.publish(each);
      round.close();
      await done;
      expect(given.map((_, index) => round.result(index))).toEqual([true, false, false, ...expected(20)]);
      expect(thread.isReady).toBe(true);
    }
  });

  test("one that ends leaves the round, and its record unverified", async () => {
    const round = new SharedRound();
    const thread = await started(round);
    round.begin();
    round.publish(RFC_SIGNATURE);
    round.places.set([2 ** 29, 2 ** 29 + 100]); // where nothing is
    round.close();
    await thread.join();
    expect(round.result(0)).toBeUndefined();
    expect(thread.isReady).toBe(false);
  });

  test("a key of another kind is in no round", () => {
    const { publicKey } = generateKeyPairSync("ed448");
    const round = new SharedRound();
    round.begin();
    expect(() => round.publish({ ...RFC_SIGNATURE, key: publicKey })).toThrow("another kind");
  });
});
