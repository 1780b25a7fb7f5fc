import { AgentError } from "../../../envelope/index.js";
import { createIdentity, type LocalIdentity } from "../../../security/identity/index.js";
import { type Network, sageDidOf } from "./did-sage.js";

/** An identity with an account of which its DID is made, an Ed25519 key to sign with and an X25519 key to agree with. */
export async function createSageIdentity(name: string, network: Network, now?: () => number): Promise<LocalIdentity> {
  const { keccak_256 } = await import("@noble/hashes/sha3.js");
  return createIdentity({
    name,
    did: ({ bytes }) => sageDidOf(network, `0x${Buffer.from(keccak_256(bytes.subarray(1)).subarray(12)).toString("hex")}`),
    kinds: ["secp256k1", "Ed25519", "X25519"],
    now,
  });
}

/** The name of a key in the registry: what follows the # in its id, which may be left out. */
export function keyName(did: string, key: string): string {
  if (!key.startsWith("did:")) return key.replace(/^#/, "");
  if (key.startsWith(`${did}#`)) return key.slice(did.length + 1);
  throw new AgentError("invalid_message", `${key.slice(0, 200)} is not a key of ${did}`, { field: "key", sent: "no" });
}
