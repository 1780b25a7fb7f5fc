import { AgentError, type Cancel, type Maybe } from "../../src/envelope/index.js";
import type { ProtocolContext } from "../../src/protocols/protocol.js";
import {
  createIdentity,
  didOfUrl,
  type Identity,
  keyObjectOf,
  type PublicKey,
  type Resolver,
} from "../../src/security/identity/index.js";
import type { MessageSigningKey, VerificationKey } from "../../src/security/signatures/index.js";

/** The configured identity, or one made for this side alone: it seals, and proves nothing about who it is. */
export function identityOf({ identity }: Pick<ProtocolContext, "identity">): Identity {
  return identity ?? createIdentity({ name: "secured-toy", did: "key" });
}

/** The key that an identity signs with now: rotation changes it. */
export function signingKeyOf(identity: Identity): PublicKey {
  const key = identity.keys().find(({ uses }) => uses.includes("authentication"));
  if (key === undefined) throw new AgentError("unauthenticated", `${identity.did} has no key to sign with`, { sent: "no" });
  return key;
}

const ALGORITHMS = { Ed25519: "ed25519", "P-256": "ecdsa-p256-sha256", secp256k1: "es256k" } as const;

function algorithmOf({ kind }: PublicKey): VerificationKey["algorithm"] {
  if (kind === "X25519") throw new AgentError("unauthenticated", "an X25519 key signs nothing");
  return ALGORITHMS[kind];
}

export function messageKeyOf(identity: Identity): MessageSigningKey {
  const key = signingKeyOf(identity);
  return { keyId: key.id, algorithm: algorithmOf(key), sign: (base) => identity.sign(key.id, base) };
}

/** A key of a DID document that authenticates; undefined if the document has none of that name, or is out of use. */
export async function keyNamed(
  resolver: Resolver,
  keyId: string,
  { now, cancel }: { now(): number; readonly cancel: Cancel },
): Promise<Maybe<PublicKey>> {
  const { document } = await resolver.resolve(didOfUrl(keyId), cancel);
  const isOver = document.deactivated || (document.expires !== undefined && document.expires <= now());
  const key = isOver ? undefined : document.keys.find(({ id }) => id === keyId);
  if (key === undefined || !key.uses.includes("authentication")) return undefined;
  return key.expires !== undefined && key.expires <= now() ? undefined : key;
}

export function verificationKeyOf(key: Maybe<PublicKey>): Maybe<VerificationKey> {
  return key === undefined ? undefined : { algorithm: algorithmOf(key), key: keyObjectOf(key) };
}
