import { createIdentity, type DidMethod, type LocalIdentity } from "../../src/security/identity/index.js";

const agents = new Map<string, LocalIdentity>();

/** A registry that has every agent of this file, for tests of what is signed. */
export const knownAgents: DidMethod = {
  method: "sage",
  cacheMs: 0,
  async resolve(did) {
    const keys = agents.get(did)?.keys() ?? [];
    return { id: did, keys, services: [], deactivated: false, successor: undefined, bytes: new Uint8Array(0) };
  },
};

export function agentNamed(name: string): LocalIdentity {
  const account = Buffer.from(name).toString("hex").padStart(40, "0");
  const identity = createIdentity({ name, did: `did:sage:local:0x${account}`, kinds: ["Ed25519", "secp256k1"] });
  agents.set(identity.did, identity);
  return identity;
}
