import { describe, expect, test } from "vitest";
import { PYTHON_KEYS, PYTHON_X25519, VECTOR_TEXT, W3C_DID_KEYS } from "../../../test/helpers/key-vectors.js";
import { decodeBase58, encodeBase58 } from "./base58.js";
import type { KeyKind, PublicKey } from "./identity.js";
import { decodeMultikey, encodeMultikey } from "./multikey.js";
import { ownKeyOfJwk } from "./own-key.js";
import { compressedBytes, jwkOfKey, keyBytes, keyFingerprint, keyOfJwk, verifySignature } from "./public-key.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));
const text = new TextEncoder().encode(VECTOR_TEXT);

describe("base58", () => {
  // draft-msporny-base58-03 §5
  test.each([
    ["48656c6c6f20576f726c6421", "2NEpo7TZRRrLZSi2U"],
    [
      "54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c617a7920646f672e",
      "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
    ],
    ["0000287fb4cd", "11233QC4"],
    ["", ""],
  ])("writes and reads %s", (bytes, encoded) => {
    expect(encodeBase58(unhex(bytes))).toBe(encoded);
    expect(hex(decodeBase58(encoded) ?? new Uint8Array(1))).toBe(bytes);
  });

  test.each(["0", "O", "I", "l", "a b", "é", "1".repeat(257)])("refuses %s", (encoded) => {
    expect(decodeBase58(encoded)).toBeUndefined();
  });
});

describe("multikeys", () => {
  test.each(W3C_DID_KEYS)("$did", ({ did, kind, jwk, base58 }) => {
    const encoded = did.slice("did:key:".length);
    const key = decodeMultikey(encoded);
    expect(key?.kind).toBe(kind);
    if (key === undefined) throw new Error("no key");
    expect(encodeMultikey(key)).toBe(encoded);
    expect(jwk === undefined ? encodeBase58(compressedBytes(key)) : jwkOfKey(key)).toEqual(jwk ?? base58);
  });

  test.each([...Object.entries(PYTHON_KEYS), ["X25519", PYTHON_X25519] as const])(
    "%s of another implementation",
    (kind, vector) => {
      const key = { kind: kind as KeyKind, bytes: unhex(vector.bytes) };
      expect(encodeMultikey(key)).toBe(vector.multikey);
      expect(decodeMultikey(vector.multikey)).toEqual(key);
      expect(keyOfJwk(vector.jwk)).toEqual(key);
      expect(keyFingerprint(key)).toBe(vector.fingerprint);
    },
  );

  test.each([
    ["another base", `m${PYTHON_KEYS.Ed25519.multikey.slice(1)}`],
    ["no prefix of a base", PYTHON_KEYS.Ed25519.multikey.slice(1)],
    ["an unknown codec", `z${encodeBase58(Uint8Array.from([0x81, 0x24, ...new Uint8Array(33).fill(2)]))}`],
    ["a key that is too short", `z${encodeBase58(Uint8Array.from([0xed, 0x01, ...new Uint8Array(31).fill(2)]))}`],
    ["a key that is too long", `z${encodeBase58(Uint8Array.from([0xed, 0x01, ...new Uint8Array(33).fill(2)]))}`],
    ["an uncompressed point", `z${encodeBase58(Uint8Array.from([0x80, 0x24, ...unhex(PYTHON_KEYS["P-256"].bytes)]))}`],
    ["a point that is not on the curve", `z${encodeBase58(Uint8Array.from([0x80, 0x24, 2, ...new Uint8Array(32).fill(0xff)]))}`],
    ["nothing", ""],
    ["an invalid digit", "z6Mk0"],
  ])("refuses %s", (_, encoded) => {
    expect(decodeMultikey(encoded)).toBeUndefined();
  });
});

describe("keyBytes()", () => {
  test("refuses Ed25519 keys of small order", () => {
    // RFC 8032 §5.1: the neutral element (0, 1), with and without the sign bit.
    for (const last of ["00", "80"]) expect(keyBytes("Ed25519", unhex(`01${"00".repeat(30)}${last}`))).toBeUndefined();
  });

  test("refuses a hybrid point, and one of another curve", () => {
    const [, ...point] = unhex(PYTHON_KEYS["P-256"].bytes);
    expect(keyBytes("P-256", Uint8Array.from([6, ...point]))).toBeUndefined();
    expect(keyBytes("secp256k1", Uint8Array.from([4, ...point]))).toBeUndefined();
  });

  test("refuses a JWK in another spelling", () => {
    const { x } = PYTHON_KEYS.Ed25519.jwk;
    expect(keyOfJwk({ kty: "OKP", crv: "Ed25519", x: `${x}=` })).toBeUndefined();
    expect(keyOfJwk({ kty: "OKP", crv: "Ed25519", x: `${x.slice(0, -1)}R` })).toBeUndefined(); // unused bits set
    expect(keyOfJwk({ kty: "EC", crv: "Ed25519", x })).toBeUndefined();
    expect(keyOfJwk({ kty: "EC", crv: "P-256", x })).toBeUndefined();
  });
});

describe("signatures", () => {
  const keyOf = (kind: keyof typeof PYTHON_KEYS, uses: PublicKey["uses"] = ["assertion"]): PublicKey => ({
    id: `did:web:a.example#${kind}`,
    kind,
    bytes: unhex(PYTHON_KEYS[kind].bytes),
    uses,
  });
  const kinds = ["Ed25519", "P-256", "secp256k1"] as const;

  test.each(kinds)("of %s by another implementation", (kind) => {
    const signature = unhex(PYTHON_KEYS[kind].signature);
    const key = keyOf(kind);
    expect(verifySignature(key, "assertion", text, signature)).toBe(true);
    expect(verifySignature(key, "authentication", text, signature)).toBe(false);
    expect(verifySignature(keyOf(kind, ["agreement"]), "assertion", text, signature)).toBe(false);
    expect(verifySignature(key, "assertion", text.subarray(1), signature)).toBe(false);
    expect(verifySignature(key, "assertion", text, signature.subarray(1))).toBe(false);
  });

  test.each(kinds)("of %s by itself, 64 bytes", async (kind) => {
    const own = ownKeyOfJwk(PYTHON_KEYS[kind].jwk, { id: "did:web:a.example#1", uses: ["assertion"], created: 0 });
    const signature = await own?.sign(text);
    expect(signature).toHaveLength(64);
    expect(verifySignature(keyOf(kind), "assertion", text, signature ?? text)).toBe(true);
  });

  test("of Ed25519 are those of the other implementation", async () => {
    const own = ownKeyOfJwk(PYTHON_KEYS.Ed25519.jwk, { id: "did:web:a.example#1", uses: ["assertion"], created: 0 });
    expect(hex((await own?.sign(text)) ?? text)).toBe(PYTHON_KEYS.Ed25519.signature);
  });

  test("of secp256k1 have a low s, and are made over Keccak-256 on request", async () => {
    const { secp256k1 } = await import("@noble/curves/secp256k1.js");
    const { keccak_256 } = await import("@noble/hashes/sha3.js");
    const own = ownKeyOfJwk(PYTHON_KEYS.secp256k1.jwk, { id: "did:web:a.example#1", uses: ["assertion"], created: 0 });
    const bytes = unhex(PYTHON_KEYS.secp256k1.bytes);
    for (let round = 0; round < 8; round++) {
      const message = Uint8Array.from([...text, round]);
      const sha = (await own?.sign(message)) ?? text;
      const keccak = (await own?.sign(message, "keccak256")) ?? text;
      expect(secp256k1.verify(sha, message, bytes, { lowS: true })).toBe(true);
      expect(secp256k1.verify(keccak, keccak_256(message), bytes, { prehash: false, lowS: true })).toBe(true);
    }
  });

  test("X25519 agrees on the secret of the other implementation, and refuses a peer of small order", () => {
    const own = ownKeyOfJwk(PYTHON_X25519.jwk, { id: "did:web:a.example#1", uses: ["agreement"], created: 0 });
    expect(hex(own?.agree(unhex(PYTHON_X25519.peer)) ?? text)).toBe(PYTHON_X25519.shared);
    expect(() => own?.agree(new Uint8Array(32))).toThrow(expect.objectContaining({ code: "bad_peer" }));
    expect(() => own?.agree(new Uint8Array(31))).toThrow(expect.objectContaining({ code: "bad_peer" }));
    expect(() => own?.sign(text)).toThrow(expect.objectContaining({ code: "unsupported" }));
  });

  test("a private key with the public half of another one is refused", () => {
    const mixed = { ...PYTHON_KEYS.Ed25519.jwk, x: Buffer.from(unhex(PYTHON_X25519.bytes)).toString("base64url") };
    expect(ownKeyOfJwk(mixed, { id: "did:web:a.example#1", uses: ["assertion"], created: 0 })).toBeUndefined();
  });
});
