import { AgentError, type Maybe } from "../../../envelope/index.js";
import { createIdentity, type Identity, type KeyKind, type PublicKey } from "../../../security/identity/index.js";
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
