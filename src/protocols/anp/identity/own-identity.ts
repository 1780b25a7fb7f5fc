import { AgentError, type Cancel, type Maybe } from "../../../envelope/index.js";
import {
  createIdentity,
  didOfUrl,
  type Identity,
  type KeyKind,
  type PublicKey,
  type Resolver,
} from "../../../security/identity/index.js";
import type { MessageSigningKey, VerificationKey } from "../../../security/signatures/index.js";

const ALGORITHMS = { Ed25519: "ed25519", "P-256": "ecdsa-p256-sha256", secp256k1: "es256k" } as const;

const made = new WeakMap<object, Identity>();

/** The configured identity of a side, or one made for it alone: that one seals sessions, and proves nothing about who it is. */
export function identityOf(side: { readonly identity: Maybe<Identity> }): Identity {
  if (side.identity !== undefined) return side.identity;
  const known = made.get(side) ?? createIdentity({ name: "anp", did: "key" });
  made.set(side, known);
  return known;
}

/** The key that an identity signs with now: rotation changes it. Undefined if it has none. */
export function signingKeyOf(identity: Identity): PublicKey {
  const key = identity.keys().find(({ uses }) => uses.includes("authentication"));
  if (key !== undefined) return key;
  throw new AgentError("unauthenticated", `${identity.did} has no valid key to sign with; rotate its keys`, { sent: "no" });
}

export function algorithmOf(kind: KeyKind): Maybe<VerificationKey["algorithm"]> {
  return kind === "X25519" ? undefined : ALGORITHMS[kind];
}

/** For HTTP message signatures. */
export function messageKeyOf(identity: Identity): MessageSigningKey {
  const key = signingKeyOf(identity);
  const algorithm = algorithmOf(key.kind);
  if (algorithm === undefined) throw new AgentError("internal", "a key for agreement signs nothing");
  return { keyId: key.id, algorithm, sign: (base) => identity.sign(key.id, base) };
}

/** Finds the key of a peer. A document is resolved for every proof, because keys are revoked. */
export interface KeySource {
  readonly resolver: Resolver;
  now(): number;
  readonly cancel: Cancel;
}

/**
 * A key that a DID document lists for authentication. Undefined: the document has none of that name, or is out of use. Throws
 * `identity_unresolved` if the document cannot be had.
 */
export async function authenticationKey(keyId: string, { resolver, now, cancel }: KeySource): Promise<Maybe<PublicKey>> {
  const did = didOfUrl(keyId);
  const { document } = await resolver.resolve(did, cancel).catch((thrown: unknown) => {
    throw unresolved(thrown, did);
  });
  const isOver = document.deactivated || (document.expires !== undefined && document.expires <= now());
  if (isOver) return undefined;
  const key = document.keys.find(({ id, uses }) => id === keyId && uses.includes("authentication"));
  return key === undefined || (key.expires !== undefined && key.expires <= now()) ? undefined : key;
}

/** Busy is not the peer's fault; anything else means that the DID proves nothing. */
function unresolved(thrown: unknown, did: string): AgentError {
  const error = AgentError.from(thrown);
  if (error.code === "unavailable" && error.facts.retryAfterMs !== undefined) return error;
  return new AgentError("identity_unresolved", `${did.slice(0, 200)} cannot be resolved: ${error.message}`, {
    detail: { did: did.slice(0, 200) },
    cause: error,
  });
}
