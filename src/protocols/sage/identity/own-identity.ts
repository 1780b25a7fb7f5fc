import { AgentError } from "../../../envelope/index.js";
import { createIdentity, type LocalIdentity } from "../../../security/identity/index.js";
import type { RegistryProfile } from "../settings.js";
import { type Network, sageDidOf } from "./did-sage.js";

const ADDRESS_DIGITS = 40;
const NAME_DIGITS = 32;

/**
 * An identity with an account of which its DID is made, an Ed25519 key to sign with and an X25519 key to agree with. An AgentCardRegistry has
 * no names of keys, so that those of its agents are made of the keys.
 */
export async function createSageIdentity(name: string, network: Network, profile: RegistryProfile): Promise<LocalIdentity> {
  const { keccak_256 } = await import("@noble/hashes/sha3.js");
  const hashOf = (bytes: Uint8Array): string => Buffer.from(keccak_256(bytes)).toString("hex");
  return createIdentity({
    name,
    did: ({ bytes }) => sageDidOf(network, `0x${hashOf(bytes.subarray(1)).slice(-ADDRESS_DIGITS)}`),
    kinds: ["secp256k1", "Ed25519", "X25519"],
    keyName: profile === "agent-card" ? ({ bytes }) => hashedKeyName(hashOf(bytes)) : undefined,
  });
}

/** The name of a key in an AgentCardRegistry, by the hash of the key in hexadecimal digits: stable, though the contract changes the order of keys. */
export function hashedKeyName(hash: string): string {
  return `key-${hash.slice(0, NAME_DIGITS)}`;
}

/** The name of a key in the registry: what follows the # in its id, which may be left out. */
export function keyName(did: string, key: string): string {
  if (!key.startsWith("did:")) return key.replace(/^#/, "");
  if (key.startsWith(`${did}#`)) return key.slice(did.length + 1);
  throw new AgentError("invalid_message", `${key.slice(0, 200)} is not a key of ${did}`, { field: "key", sent: "no" });
}
