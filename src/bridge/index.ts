/** Serves a peer as an agent of this process: its tasks are adopted or relayed. */
export {
  type Bridge,
  type BridgedAgent,
  type BridgeFacts,
  type BridgeOptions,
  type BridgeSettings,
  bridge,
  bridgedAgent,
  nameFrom,
} from "./bridge.js";
export { CARD_POLICIES, type CardPolicy } from "./card-policy.js";
export { EMULATED_KEY } from "./emulation.js";
export type { CountedLoss, LossReport } from "./loss-report.js";
export { type RelayOptions, relay } from "./relay.js";
export type { Upstream, UpstreamTraits } from "./upstream.js";
export { type CallerSharing, type SharedCallers, sharingCallers, type UpstreamCredentials } from "./upstream-credentials.js";
