/** Identities, DID documents and their resolution. */

export { authenticationKey, type PeerKeySource } from "./authentication-key.js";
export { checkedDid, type Did, didOfUrl, parseDid } from "./did.js";
export type { DidDocument, DidService } from "./did-document.js";
export { didKey } from "./did-key.js";
export type { DidMethod, FetchUrl } from "./did-method.js";
export {
  createResolver,
  DEFAULT_RESOLVER_LIMITS,
  DidResolver,
  type ResolverLimits,
  type ResolverOptions,
} from "./did-resolver.js";
export { type DidWebOptions, didWeb, didWebOf, didWebUrl } from "./did-web.js";
export type { Identity, KeyKind, KeyUse, PublicKey, SignatureHash } from "./identity.js";
export { changeIdentity, openIdentity, writeNewIdentity } from "./identity-file.js";
export { createIdentity, type LocalIdentity, type NewIdentity, publishedKeysOf, type Rotation } from "./local-identity.js";
export { decodeMultikey, encodeMultikey } from "./multikey.js";
export {
  isKeyKind,
  jwkOfKey,
  keyBytes,
  keyFingerprint,
  keyIn,
  keyObjectOf,
  keyOfJwk,
  suits,
  verifySignature,
} from "./public-key.js";
export { DID_DOCUMENT_LIMITS, listedKeys, readDidDocument } from "./read-did-document.js";
export type { CurrentDid, ResolvedDid, Resolver } from "./resolver.js";
export { keepRetired, readRetired } from "./retired-documents.js";
export { type DidContent, didDocumentOf, writeDidDocument } from "./write-did-document.js";
export { verifyWithX25519 } from "./xeddsa.js";
