import { createPrivateKey, type ED25519KeyPairOptions, generateKeyPairSync, type KeyObject } from "node:crypto";

/** Octet keys, curves of ECDSA, and RSA with its length. */
export type NewKeyKind = "Ed25519" | "X25519" | "P-256" | "P-384" | "secp256k1" | "RSA-3072";

const ENCODED: ED25519KeyPairOptions<"der", "der"> = {
  publicKeyEncoding: { format: "der", type: "spki" },
  privateKeyEncoding: { format: "der", type: "pkcs8" },
};

/**
 * A new private key, read from its encoded form. On Node 20 a key object that comes straight from the generator shares a lock with
 * the generator's job. If that job is garbage collected while the key is exported, the process waits for its own lock for ever.
 */
export function newPrivateKey(kind: NewKeyKind): KeyObject {
  return createPrivateKey({ key: generate(kind), format: "der", type: "pkcs8" });
}

function generate(kind: NewKeyKind): Buffer {
  switch (kind) {
    case "Ed25519":
      return generateKeyPairSync("ed25519", ENCODED).privateKey;
    case "X25519":
      return generateKeyPairSync("x25519", ENCODED).privateKey;
    case "RSA-3072":
      return generateKeyPairSync("rsa", { modulusLength: 3_072, ...ENCODED }).privateKey;
    default:
      return generateKeyPairSync("ec", { namedCurve: kind, ...ENCODED }).privateKey;
  }
}
