/** Authentication, identity, signatures, the audit log, host checks and the outbound guard. */

export { type AddressClass, addressClass, isAsPublic } from "./address.js";
export {
  type Admission,
  type AdmissionFacts,
  type AdmissionOutcome,
  admittedOf,
  bearerTokens,
  describeSecurity,
  type HeadAdmission,
  type NeedsBody,
  needsBody,
  openAdmission,
  type ProvenPeer,
  parseTokens,
} from "./admission.js";
export { anyOf, mergeSecurity } from "./any-of.js";
export { type ApiKeyLocation, apiKeys } from "./api-keys.js";
export * from "./at-rest/index.js";
export {
  AUTHENTICATED_INTERVAL_MS,
  type AuditFacts,
  type AuditSink,
  type AuditTrail,
  auditKeys,
  auditTrail,
  withAudit,
} from "./audit.js";
export { AUDIT_EVENTS, type AuditEntry, type AuditEvent, parseEntry } from "./audit-entry.js";
export {
  type AuditFile,
  type AuditFileLimits,
  type AuditFileOptions,
  DEFAULT_AUDIT_LIMITS,
  openAuditFile,
} from "./audit-file.js";
export { type AuditLine, type AuditVerification, auditFiles, readAuditLines, splitLines, verifyAudit } from "./audit-read.js";
export { assertMayBind, type BindRequest } from "./bind-rule.js";
export { blindDigest } from "./blind-digest.js";
export {
  CALLER_HEADER,
  callerStatements,
  type StateCaller,
  type StatementOptions,
  type TrustedGateway,
  trustGateway,
} from "./caller-statement.js";
export {
  type CardSignature,
  type CardSigner,
  type CardSignerOptions,
  cardSignatures,
  cardSigner,
  signCard,
} from "./card-signature.js";
export {
  type CardCheck,
  type CardSignatureResult,
  type CardTrust,
  createCardCheck,
  describeCardSignature,
  publishedKeys,
  type TrustedKey,
} from "./card-signature-check.js";
export { type CertificateOptions, clientCertificates } from "./client-certificates.js";
export { DialledExposure } from "./dialled-exposure.js";
export { type Exposure, exposureOf, exposureOfAll, isWithin, literalExposure } from "./exposure.js";
export { fetchJson, hostOf, type JsonRequest, type JsonResponse } from "./fetch-json.js";
export { type GuardedDial, guardedDial } from "./guarded-dial.js";
export { createHostCheck, createOriginCheck, type HostCheck, type HostCheckOptions } from "./host-check.js";
export * from "./identity/index.js";
export { DEFAULT_KEY_LIMITS, type KeyLimits, type KeyNote } from "./jwt-keys.js";
export {
  DEFAULT_JWT_LIMITS,
  type JwtDeclaration,
  type JwtKeys,
  type JwtLimits,
  type JwtOptions,
  jwtTokens,
} from "./jwt-tokens.js";
export {
  classOfUrl,
  createGuard,
  type Guard,
  type GuardRules,
  guardRedirect,
  guardUrl,
  type PinnedAddress,
  type PinnedUrl,
  type Resolve,
} from "./outbound-guard.js";
export { createPseudonymizer, type Pseudonymizer } from "./pseudonymize.js";
export { createReplayGuard, type ReplayGuardOptions } from "./replay/index.js";
export { pinnedLookup, resolveByDns } from "./resolve-by-dns.js";
export { createSeal, newSecret, type Seal } from "./seal.js";
export { MIN_TOKEN_CHARS } from "./secret-holders.js";
export * from "./signatures/index.js";
export { type NewKey, newCardKey, SIGNING_ALGORITHMS, type SigningAlgorithm } from "./signing-key.js";
export { expiryOf, type IssuedToken, renewAfterMs, requestToken, type TokenClient } from "./token-endpoint.js";
export {
  DEFAULT_EXCHANGE_LIMITS,
  type ExchangeLimits,
  type TokenExchange,
  type TokenExchangeOptions,
  tokenExchange,
} from "./token-exchange.js";
