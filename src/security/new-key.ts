import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from "node:crypto";

/** Octet keys, curves of ECDSA, and RSA with its length. */
export type NewKeyKind = "Ed25519" | "X25519" | "P-256" | "P-384" | "secp256k1" | "RSA-3072";

/** As JWK: OpenSSL takes ten times as long to read and write DER. */
const ENCODED = { publicKeyEncoding: { format: "jwk" }, privateKeyEncoding: { format: "jwk" } } as const;

/**
 * A new private key, read from its encoded form. On Node 20 a key object that comes straight from the generator shares a lock with
 * the generator's job. If that job is garbage collected while the key is exported, the process waits for its own lock for ever.
 */
export function newPrivateKey(kind: NewKeyKind): KeyObject {
  return createPrivateKey({ key: generate(kind), format: "jwk" });
}

function generate(kind: NewKeyKind): JsonWebKey {
  return pair(kind).privateKey as JsonWebKey; // the types do not know this encoding
}

function pair(kind: NewKeyKind): { readonly privateKey: unknown } {
  switch (kind) {
    case "Ed25519":
      return generateKeyPairSync("ed25519", ENCODED);
    case "X25519":
      return generateKeyPairSync("x25519", ENCODED);
    case "RSA-3072":
      return generateKeyPairSync("rsa", { modulusLength: 3_072, ...ENCODED });
    default:
      return generateKeyPairSync("ec", { namedCurve: kind, ...ENCODED });
  }
}
