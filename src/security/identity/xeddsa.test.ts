import { ed25519 } from "@noble/curves/ed25519.js";
import { expect, test } from "vitest";
import { createIdentity } from "./local-identity.js";
import { keyIn, verifySignature } from "./public-key.js";
import { verifyWithX25519 } from "./xeddsa.js";

const DID = "did:web:agent.example";
const text = new TextEncoder().encode("this key is mine");

test("an X25519 key proves its possession with a signature that Ed25519 verifies under its image", async () => {
  for (let round = 0; round < 8; round++) {
    const identity = createIdentity({ name: "a", did: DID });
    const key = keyIn(identity.keys(), `${DID}#key-2`, DID);
    const proof = await identity.prove(key.id, text);
    expect(verifyWithX25519(key.bytes, text, proof)).toBe(true);
    // Another implementation: the point whose image this key is, with the sign bit 0.
    const image = ed25519.Point.Fp.toBytes(
      ed25519.Point.Fp.div(
        ed25519.Point.Fp.fromBytes(key.bytes) - 1n,
        ed25519.Point.Fp.add(ed25519.Point.Fp.fromBytes(key.bytes), 1n),
      ),
    );
    expect(ed25519.utils.toMontgomery(image)).toEqual(key.bytes);
    expect(ed25519.verify(proof, text, image)).toBe(true);
  }
});

test("a proof is that of one key over one text, and never verifies under a point of small order", async () => {
  const [one, other] = [createIdentity({ name: "a", did: DID }), createIdentity({ name: "b", did: DID })];
  const keyOf = (identity: typeof one) => keyIn(identity.keys(), `${DID}#key-2`, DID);
  const proof = await one.prove(`${DID}#key-2`, text);
  expect(verifyWithX25519(keyOf(other).bytes, text, proof)).toBe(false);
  expect(verifyWithX25519(keyOf(one).bytes, new TextEncoder().encode("this key is yours"), proof)).toBe(false);
  expect(verifyWithX25519(keyOf(one).bytes, text, proof.subarray(1))).toBe(false);
  expect(verifyWithX25519(keyOf(one).bytes.subarray(1), text, proof)).toBe(false);
  const low = [new Uint8Array(32), Uint8Array.from([1, ...new Array(31).fill(0)])];
  for (const point of low) expect(verifyWithX25519(point, text, new Uint8Array(64))).toBe(false);
});

test("keys that sign prove possession by signing", async () => {
  const identity = createIdentity({ name: "a", did: DID, kinds: ["Ed25519", "secp256k1"] });
  const key = keyIn(identity.keys(), `${DID}#key-1`, DID);
  expect(verifySignature(key, "assertion", text, await identity.prove(key.id, text))).toBe(true);
  expect(await identity.prove(`${DID}#key-2`, text)).toEqual(await identity.sign(`${DID}#key-2`, text, "keccak256"));
});

test("a key of which the DID is made cannot be rotated", () => {
  const identity = createIdentity({ name: "a", did: () => "did:example:42", kinds: ["secp256k1", "Ed25519"] });
  expect(() => identity.rotated({ overlapMs: 0 })).toThrow("is the DID of its secp256k1 key");
  expect(identity.rotated({ overlapMs: 0, kinds: ["Ed25519"] }).keys()).toHaveLength(2);
  expect(identity.history().map(({ namesDid }) => namesDid)).toEqual([true, undefined]);
});
