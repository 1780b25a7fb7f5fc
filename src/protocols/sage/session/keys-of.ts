import type { Cancel } from "../../../envelope/index.js";
import type { PublicKey, Resolver } from "../../../security/identity/index.js";
import type { SageSession } from "./session.js";

/** The keys that a DID may use now, by its record. Throws if the record cannot be had: a session does not outlive its registry. */
export async function keysOf(did: string, resolver: Resolver, cancel: Cancel): Promise<readonly PublicKey[]> {
  const { document } = await resolver.resolve(did, cancel);
  return document.deactivated ? [] : document.keys;
}

/** Ends a session whose peer has revoked or replaced a key of it. */
export async function checkPeerKeys(session: SageSession, resolver: Resolver, cancel: Cancel): Promise<void> {
  session.checkKeys(session.peerDid, await keysOf(session.peerDid, resolver, cancel));
}
