import { createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { signBase, verifyBase } from "./algorithms.js";

/** Signatures by another implementation; fixtures/make-es256k.py says how they were made. */
interface Vectors {
  readonly private: string;
  readonly public: string;
  readonly vectors: readonly {
    readonly text: string;
    readonly low: string;
    readonly high: string;
    readonly made: "low" | "high";
  }[];
}

const { vectors, ...keys }: Vectors = JSON.parse(readFileSync(new URL("fixtures/es256k.json", import.meta.url), "utf8"));
const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");
const point = bytes(keys.public);
const jwk = {
  kty: "EC",
  crv: "secp256k1",
  x: point.subarray(1, 33).toString("base64url"),
  y: point.subarray(33).toString("base64url"),
};
const publicKey = createPublicKey({ key: jwk, format: "jwk" });
const privateKey = createPrivateKey({ key: { ...jwk, d: bytes(keys.private).toString("base64url") }, format: "jwk" });
/** SEC 2 §2.4.1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

test("the vectors have signatures of both kinds", () => {
  expect(new Set(vectors.map(({ made }) => made))).toEqual(new Set(["low", "high"]));
});

describe.each(vectors)("es256k: $text, made with a $made s", ({ text, low, high }) => {
  test("the signature with the low s verifies", () => {
    expect(verifyBase("es256k", publicKey, Buffer.from(text), bytes(low))).toBe(true);
    expect(verifyBase("es256k", publicKey, Buffer.from(`${text}.`), bytes(low))).toBe(false);
  });

  test("the one with the high s does not: it is a second signature of the same text", () => {
    expect(verifyBase("es256k", publicKey, Buffer.from(text), bytes(high))).toBe(false);
  });

  test("ours have a low s and verify", () => {
    const signature = signBase("es256k", privateKey, Buffer.from(text));
    expect(signature.length).toBe(64);
    expect(BigInt(`0x${Buffer.from(signature.subarray(32)).toString("hex")}`) <= ORDER / 2n).toBe(true);
    expect(verifyBase("es256k", publicKey, Buffer.from(text), signature)).toBe(true);
  });
});
