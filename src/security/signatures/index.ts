/** HTTP message signatures (RFC 9421) and content digests (RFC 9530). */

export { checkKey, hasLowS, type SignatureAlgorithm, signBase, verifyBase } from "./algorithms.js";
export type { SignedMessage, SignedRequest, SignedResponse } from "./components.js";
export { checkContentDigest, contentDigest, type DigestAlgorithm } from "./content-digest.js";
export { type DidSignatureOptions, didSignatures, identitySigner } from "./did-signatures.js";
export {
  type CallerKey,
  type HttpSignatureOptions,
  httpSignatures,
  type SignerKey,
  type SignerLookup,
} from "./http-signatures.js";
export {
  PLAIN_SIGNATURES,
  type ProfileComponent,
  type SignatureCoverage,
  type SignatureParameter,
  type SignatureProfile,
} from "./profile.js";
export { type RequestSignatureOptions, type RequestSignatures, requestSignatures } from "./request-signatures.js";
export { type ResponseVerification, responseVerification } from "./response-verification.js";
export type { Ed25519Signature } from "./shared-round.js";
export { SharedSecret } from "./shared-secret.js";
export { MessageSigner, type MessageSigningKey, responseSigning, type SigningParts } from "./sign.js";
export { SignatureError, type SignatureProblem } from "./signature-error.js";
export {
  type KeyLookup,
  SignatureVerifier,
  type VerificationKey,
  type VerificationOrder,
  type VerifiedSignature,
} from "./verify.js";
export { verifyMany } from "./verify-many.js";
