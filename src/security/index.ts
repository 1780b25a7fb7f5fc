/** Who may: admission, the names we answer to, and where a peer's URL may lead. */
export { type AddressClass, addressClass, isAsPublic } from "./address.js";
export { type Admission, bearerTokens, describeSecurity, MIN_TOKEN_CHARS, openAdmission, parseTokens } from "./admission.js";
export { assertMayBind, type BindWish } from "./bind-rule.js";
export { type GuardedDial, guardedDial } from "./guarded-dial.js";
export { createHostCheck, type HostCheck, type HostCheckOptions } from "./host-check.js";
export { isLoopback, isLoopbackAddress, wasForwarded } from "./loopback.js";
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
export { REDACTED, redactHeaders, redactUrl } from "./redact.js";
export { lookupByDns, pinnedLookup, resolveByDns } from "./resolve-by-dns.js";
