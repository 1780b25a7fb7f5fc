import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { newPrivateKey } from "../new-key.js";

/** A key for one handshake. Its private half is forgotten with it: what was agreed cannot be had again. */
export interface EphemeralKey {
  /** X25519, 32 bytes. */
  readonly publicBytes: Uint8Array;
  /** The secret shared with another public key, 32 bytes. Throws `bad_peer` for one that is no key, or has small order. */
  agree(peer: Uint8Array): Uint8Array;
}

/** The DER form of RFC 8410 §7 before the 32 bytes of an X25519 key. */
const PRIVATE_HEAD = Buffer.from("302e020100300506032b656e04220420", "hex");
const KEY_BYTES = 32;
const OKP = { kty: "OKP", crv: "X25519" } as const;

/** A new X25519 key. `privateBytes`: for test vectors. Public keys are JWK inside: OpenSSL takes ten times as long to read and write DER. */
export function ephemeralKey(privateBytes?: Maybe<Uint8Array>): EphemeralKey {
  const privateKey = privateBytes === undefined ? newPrivateKey("X25519") : importPrivate(privateBytes);
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return {
    publicBytes: Buffer.from(x, "base64url"),
    agree(peer) {
      if (peer.length !== KEY_BYTES)
        throw new AgentError("bad_peer", "the peer's ephemeral key is not an X25519 key of 32 bytes");
      const key = { ...OKP, x: Buffer.from(peer.buffer, peer.byteOffset, KEY_BYTES).toString("base64url") };
      try {
        return diffieHellman({ privateKey, publicKey: createPublicKey({ key, format: "jwk" }) });
      } catch {
        throw new AgentError("bad_peer", "the peer's ephemeral key has small order"); // RFC 7748 §6.1
      }
    },
  };
}

function importPrivate(bytes: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PRIVATE_HEAD, bytes]), format: "der", type: "pkcs8" });
}
