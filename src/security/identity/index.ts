/** Identities, DID documents and their resolution. */

export type { DidDocument, DidService } from "./did-document.js";
export type { Identity, KeyKind, KeyUse, PublicKey, SignatureHash } from "./identity.js";
export type { ResolvedDid, Resolver } from "./resolver.js";
