import { AgentError } from "../../envelope/index.js";
import type { DidMethod } from "./did-method.js";
import { decodeMultikey } from "./multikey.js";
import { writeDidDocument } from "./write-did-document.js";

/** `did:key`: the DID is the key, so that its document can be computed. No key for agreement is derived from one for signatures. */
export const didKey: DidMethod = {
  method: "key",
  cacheMs: 0,
  async resolve(did) {
    const encoded = did.slice("did:key:".length);
    const key = decodeMultikey(encoded);
    if (key === undefined)
      throw new AgentError("bad_peer", `${did.slice(0, 200)} is not the did:key of an Ed25519, P-256, secp256k1 or X25519 key`);
    const uses = key.kind === "X25519" ? (["agreement"] as const) : (["authentication", "assertion"] as const);
    const keys = [{ ...key, id: `${did}#${encoded}`, uses }];
    const bytes = new TextEncoder().encode(JSON.stringify(writeDidDocument({ did, keys })));
    return { id: did, keys, services: [], deactivated: false, successor: undefined, bytes };
  },
};
