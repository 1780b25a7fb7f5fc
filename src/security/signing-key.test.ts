import { generateKeyPairSync } from "node:crypto";
import { calculateJwkThumbprint, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import {
  algorithmsOf,
  newCardKey,
  publicJwk,
  readPrivateKey,
  readPublicKey,
  SIGNING_ALGORITHMS,
  signBytes,
  thumbprint,
  verifyBytes,
} from "./signing-key.js";

/** RFC 8037 appendix A. */
const ED25519 = {
  kty: "OKP",
  crv: "Ed25519",
  d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
/** RFC 7638 §3.1. */
const RSA = {
  kty: "RSA",
  n: "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
  e: "AQAB",
  alg: "RS256",
  kid: "2011-04-29",
};

describe("keys", () => {
  it("have the thumbprints of RFC 7638 §3.1 and RFC 8037 appendix A.3", () => {
    expect(thumbprint(readPublicKey(RSA))).toBe("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    expect(thumbprint(readPublicKey(ED25519))).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    expect(thumbprint(readPrivateKey(ED25519))).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  });

  it("sign as RFC 8037 appendix A.4 does", () => {
    const input = Buffer.from("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc", "ascii");
    const signature = Buffer.from(signBytes("EdDSA", readPrivateKey(ED25519), input)).toString("base64url");
    expect(signature).toBe("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
  });

  it.each(SIGNING_ALGORITHMS)("of %s are the same key in every form, and sign and verify", async (algorithm) => {
    const made = newCardKey(algorithm);
    expect(made.kid).toBe(await calculateJwkThumbprint(made.publicJwk as JWK));
    expect(made.publicJwk).not.toHaveProperty("d");
    const fromPem = readPrivateKey(made.privatePem);
    const fromText = readPrivateKey(JSON.stringify(made.privateJwk));
    expect(publicJwk(fromPem)).toEqual(publicJwk(fromText));
    expect(algorithmsOf(fromPem)).toContain(algorithm);
    const data = Buffer.from("data");
    const signature = signBytes(algorithm, fromPem, data);
    expect(verifyBytes(algorithm, readPublicKey(made.publicJwk), data, signature)).toBe(true);
    expect(verifyBytes(algorithm, readPublicKey(made.publicJwk), Buffer.from("date"), signature)).toBe(false);
  });

  it("that are weak, of another kind, or no keys are refused, and never shown", () => {
    const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
    expect(() => algorithmsOf(weak)).toThrow("1024 bits; at least 2048");
    const other = generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey;
    expect(() => algorithmsOf(other)).toThrow("are not supported");
    const secret = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----";
    expect(() => readPrivateKey(secret)).toThrow(/^this is not a private key in PEM/);
    expect(() => readPrivateKey({ kty: "OKP", crv: "Ed25519", x: ED25519.x })).toThrow("not a private key");
    expect(() => readPublicKey("{}")).toThrow("not a public key");
    expect(() => readPublicKey({ kty: "oct", k: "c2VjcmV0" })).toThrow("not a public key");
  });
});
