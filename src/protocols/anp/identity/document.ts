import type { Awaitable, Json, JsonObject, Maybe } from "../../../envelope/index.js";
import { encodeBase58 } from "../../../security/identity/base58.js";
import {
  encodeMultikey,
  type Identity,
  jwkOfKey,
  type KeyUse,
  keyFingerprint,
  type PublicKey,
  publishedKeysOf,
} from "../../../security/identity/index.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import { bindingOf } from "./did-wba.js";
import { addProof } from "./document-proof.js";

/** What the document of an agent says beside its keys. */
export interface Published {
  readonly services: readonly JsonObject[];
  /** The DID that follows: this one is out of use. */
  readonly successor?: Maybe<string>;
}

const CONTEXT: readonly Json[] = [
  "https://www.w3.org/ns/did/v1",
  "https://w3id.org/security/data-integrity/v2",
  "https://w3id.org/security/multikey/v1",
  "https://w3id.org/security/suites/x25519-2019/v1",
];

/** The did:wba document of an identity, with a proof if its DID is bound to one of its keys. */
export function wbaDocument(identity: Identity, { services, successor }: Published, nowMs: number): Awaitable<JsonObject> {
  const { did } = identity;
  const keys = publishedKeysOf(identity);
  const listed = (use: KeyUse): readonly string[] => keys.filter(({ uses }) => uses.includes(use)).map(({ id }) => id);
  const document: JsonObject = {
    "@context": CONTEXT,
    id: did,
    ...(successor === undefined ? undefined : { deactivated: true, successorDid: successor }),
    verificationMethod: keys.map((key) => methodOf(did, key)),
    authentication: listed("authentication"),
    assertionMethod: listed("assertion"),
    keyAgreement: listed("agreement"),
    service: services,
  };
  const prover = keyBoundTo(did, identity.keys());
  return prover === undefined ? document : addProof(document, identity, prover, nowMs);
}

/** The key that a DID is bound to; undefined for a DID without fingerprint, or if the key is not there. */
export function keyBoundTo(did: string, keys: readonly PublicKey[]): Maybe<PublicKey> {
  const thumbprint = bindingOf(did)?.thumbprint;
  return keys.find((key) => key.kind !== "X25519" && keyFingerprint(key) === thumbprint);
}

/** In the types that the SDK reads: a Multikey for Ed25519, JWKs for the curves, and the bytes of X25519 without a prefix. */
function methodOf(did: string, key: PublicKey): JsonObject {
  const { id, kind, expires } = key;
  const end = expires === undefined ? undefined : { expires: writeTimestamp(expires) };
  switch (kind) {
    case "Ed25519":
      return { id, type: "Multikey", controller: did, publicKeyMultibase: encodeMultikey(key), ...end };
    case "P-256":
      return { id, type: "EcdsaSecp256r1VerificationKey2019", controller: did, publicKeyJwk: jwkOfKey(key), ...end };
    case "secp256k1":
      return { id, type: "EcdsaSecp256k1VerificationKey2019", controller: did, publicKeyJwk: jwkOfKey(key), ...end };
    case "X25519":
      return {
        id,
        type: "X25519KeyAgreementKey2019",
        controller: did,
        publicKeyMultibase: `z${encodeBase58(key.bytes)}`,
        ...end,
      };
    default:
      return kind satisfies never;
  }
}
