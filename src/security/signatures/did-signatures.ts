import { AgentError, type Floor, type Maybe, ownerOf, type Principal } from "../../envelope/index.js";
import type { RequestSigner } from "../../transport/exchange.js";
import type { Admission, ProvenPeer } from "../admission.js";
import { didOfUrl, type Identity, type KeyKind, keyObjectOf, type PublicKey } from "../identity/index.js";
import type { SignatureAlgorithm } from "./algorithms.js";
import { httpSignatures, type SignerKey, type SignerLookup } from "./http-signatures.js";
import { PLAIN_SIGNATURES, type SignatureProfile } from "./profile.js";
import { MessageSigner } from "./sign.js";

const ALGORITHMS = {
  Ed25519: "ed25519",
  "P-256": "ecdsa-p256-sha256",
  secp256k1: "es256k",
  X25519: undefined,
} as const satisfies Record<KeyKind, Maybe<SignatureAlgorithm>>;

/** Options of `didSignatures`. */
export interface DidSignatureOptions {
  /** The DIDs that are admitted, or `any` for every caller that proves a DID. */
  readonly dids: readonly string[] | "any";
  /** Default: that of `httpSignatures`. */
  readonly profile?: SignatureProfile;
}

/**
 * Admits callers that sign their requests with a key of their DID (RFC 9421): `keyid` is the DID URL of a key that the DID document
 * lists for authentication. The document is found by the resolver of the host.
 */
export function didSignatures({ dids, profile }: DidSignatureOptions): Admission {
  const listed = dids === "any" ? undefined : new Set(dids);
  if (listed?.size === 0) throw new AgentError("invalid_message", "no DID is configured, so every caller would be refused");
  const keys: SignerLookup = (keyId, head, { resolver }) => {
    const did = didOfUrl(keyId);
    // Who is not admitted cannot make us resolve anything.
    if (!did.startsWith("did:") || listed?.has(did) === false) return undefined;
    return resolver.resolve(did, head.cancel).then(({ document }) => signerKey(document.keys, keyId, did), unknownIfInvalid);
  };
  return Object.assign(httpSignatures({ keys, ...(profile === undefined ? {} : { profile }) }), {
    accepts: "an HTTP message signature by a DID",
    identify({ did }: ProvenPeer) {
      if (listed?.has(did) === false) throw new AgentError("forbidden", `${did.slice(0, 200)} is not admitted here`);
      return { principal: principalOf(did), proved: PROVED };
    },
  });
}

function signerKey(keys: readonly PublicKey[], keyId: string, did: string): Maybe<SignerKey> {
  const key = keys.find(({ id, uses }) => id === keyId && uses.includes("authentication"));
  const algorithm = key && ALGORITHMS[key.kind];
  if (key === undefined || algorithm === undefined) return undefined;
  return { algorithm, key: keyObjectOf(key), principal: principalOf(did), proved: { identity: true, signed: true } };
}

/** By a proof inside a protocol, which says itself whether the message is signed. */
const PROVED: Partial<Floor> = Object.freeze({ identity: true });

function principalOf(did: string): Principal {
  return { id: did, scheme: "did", scopes: [], owner: ownerOf("did", did) };
}

/** A DID without a valid document has no keys. If its document cannot be had now, the caller may try again. */
function unknownIfInvalid(thrown: unknown): undefined {
  if (thrown instanceof AgentError && thrown.code !== "unavailable" && thrown.code !== "internal") return undefined;
  throw thrown;
}

/** Signs requests with the first key of the identity that signs, for peers that admit its DID. Keys may be rotated meanwhile. */
export function identitySigner(identity: Identity, now: () => number = Date.now): RequestSigner {
  let key = signingKeyOf(identity);
  let signer = signerWith(identity, key, now);
  return {
    sign(request) {
      const current = signingKeyOf(identity);
      if (current.id !== key.id) [key, signer] = [current, signerWith(identity, current, now)];
      return signer.request(request, request.body);
    },
  };
}

interface SigningKey {
  readonly id: string;
  readonly algorithm: SignatureAlgorithm;
}

function signingKeyOf(identity: Identity): SigningKey {
  const key = identity.keys().find(({ kind, uses }) => ALGORITHMS[kind] !== undefined && uses.includes("authentication"));
  const algorithm = key && ALGORITHMS[key.kind];
  if (key !== undefined && algorithm !== undefined) return { id: key.id, algorithm };
  throw new AgentError("invalid_message", `identity ${identity.name} has no valid key that signs; rotate its keys`, {
    field: "identity",
    sent: "no",
  });
}

function signerWith(identity: Identity, { id, algorithm }: SigningKey, now: () => number): MessageSigner {
  const sign = (base: Uint8Array) => identity.sign(id, base);
  return new MessageSigner({ profile: PLAIN_SIGNATURES, key: { keyId: id, algorithm, sign }, now });
}
