import { AgentError, type Maybe } from "../../../envelope/index.js";
import {
  authenticationKey,
  didOfUrl,
  type Identity,
  keyObjectOf,
  type PeerKeySource,
  type PublicKey,
} from "../../../security/identity/index.js";
import type { MessageSigningKey, VerificationKey } from "../../../security/signatures/index.js";
import { DidNotResolved } from "../errors.js";
import { parseSageDid } from "./did-sage.js";

/** The identity if it is one of SAGE: other DIDs are in no registry. */
export function sageIdentity({ identity }: { readonly identity: Maybe<Identity> }): Maybe<Identity> {
  return identity !== undefined && parseSageDid(identity.did) !== undefined ? identity : undefined;
}

/** The Ed25519 key that an identity signs with now: rotation changes it. */
export function signingKeyOf(identity: Identity): PublicKey {
  const key = identity.keys().find(({ kind, uses }) => kind === "Ed25519" && uses.includes("authentication"));
  if (key !== undefined) return key;
  throw new AgentError("unauthenticated", `${identity.did} has no Ed25519 key to sign with; rotate its keys`, { sent: "no" });
}

/** For HTTP message signatures. */
export function messageKeyOf(identity: Identity): MessageSigningKey {
  const { id } = signingKeyOf(identity);
  return { keyId: id, algorithm: "ed25519", sign: (base) => identity.sign(id, base) };
}

/**
 * The key of a record that a signature names; undefined if the record has no such key in use, or one that does not sign messages. DIDs of
 * other methods are in no registry: nobody could revoke them, and anyone could name a did:web at an address of this machine.
 */
export async function signerKey(keyId: string, source: PeerKeySource): Promise<Maybe<VerificationKey>> {
  if (parseSageDid(didOfUrl(keyId)) === undefined)
    throw new DidNotResolved("id.unknown-kind", `${keyId.slice(0, 200)} is no key of a did:sage`);
  const key = await authenticationKey(keyId, source);
  return key?.kind === "Ed25519" ? { algorithm: "ed25519", key: keyObjectOf(key) } : undefined;
}
