import { createECDH } from "node:crypto";
import { AgentError, type Maybe } from "../../envelope/index.js";
import type { EphemeralKey } from "./ephemeral-key.js";

const CURVE = "prime256v1";

/** A new P-256 key. Its public half is the uncompressed point, 65 bytes. `privateBytes`: for test vectors. */
export function p256EphemeralKey(privateBytes?: Maybe<Uint8Array>): EphemeralKey {
  const key = createECDH(CURVE);
  if (privateBytes === undefined) key.generateKeys();
  else key.setPrivateKey(privateBytes);
  return {
    publicBytes: key.getPublicKey(),
    agree(peer) {
      try {
        return key.computeSecret(peer);
      } catch {
        throw new AgentError("bad_peer", "the peer's ephemeral key is not a point of P-256");
      }
    },
  };
}
