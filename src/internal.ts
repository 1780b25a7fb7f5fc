/** For the programs of this repository. Not published: `package.json` does not name it. */
export { readReference } from "./artifacts/index.js";
export {
  bridgedAgent,
  CARD_POLICIES,
  type CountedLoss,
  EMULATED_KEY,
  nameFrom,
  type SharedCallers,
  sharingCallers,
  type Upstream,
  type UpstreamTraits,
} from "./bridge/index.js";
export { connectRewriting, type RelayableAgent } from "./client/connect.js";
export { credentialHeaders, type FloorFields, FloorRules, NoProtocolError, textOfAnswer } from "./client/index.js";
export {
  ARRIVED_OVER_TLS,
  CallSlot,
  floorOf,
  isPromise,
  type LossSink,
  NO_FLOOR,
  REQUIREMENTS,
  raiseFloor,
} from "./envelope/index.js";
export { around, backgroundClock, limitedSignal } from "./policies/index.js";
export { protocolsFor } from "./protocols/did-methods.js";
export { type DeploymentRow, deploymentRows, withoutBinding } from "./protocols/index.js";
export { surelyProtected, traitsOf } from "./protocols/traits.js";
export { TEMPLATES as PROMPT_TEMPLATES, VERSION as PROMPT_VERSION } from "./router/prompts/protocol-selection-v1.js";
export {
  changeIdentity,
  describeCardSignature,
  didDocumentOf,
  didWebUrl,
  encodeMultikey,
  identitySigner,
  isKeyKind,
  type LocalIdentity,
  MessageSigner,
  parseDid,
  parseEntry,
  readStoreKeys,
  SignatureVerifier,
  storeKeysFileOf,
  writeNewIdentity,
} from "./security/index.js";
export { loopbackCallers } from "./security/loopback-callers.js";
export { holdsToken, newOperatorToken } from "./security/operator-token.js";
export { provedDids } from "./security/proved-dids.js";
export { SEALED_RECORDS, SealedChannel } from "./security/sealed-records/index.js";
export { auditFloor } from "./server/floor-audit.js";
export { checkIdentityUse } from "./server/publish-identity.js";
export { type EndedMessage, watchEnds } from "./telemetry/capture/log.js";
export { contentRefusals } from "./telemetry/content-metrics.js";
export { DEFAULT_LIMITS, encodeSse, errorResponse, etagOf, isFresh, jsonResponse, SSE_COMMENT } from "./transport/index.js";
export { isLoopbackHost } from "./transport/loopback.js";
export { ProxyTrust } from "./transport/node/trusted-proxies.js";
export { readRetryAfter } from "./transport/retry-after.js";
