/** Between two messages: one protocol in front of another. */
export { type AdoptParts, adopting, type CredentialSeal, cancelAdopted } from "./adopt.js";
export { CARD_POLICIES, type CardFacts, type CardPolicy, cardInFront } from "./card-policy.js";
export { EMULATED_KEY } from "./emulation.js";
export { refuseLoops } from "./hops.js";
export { type CountedLoss, LossAccount, type LossReport } from "./loss-report.js";
export { type RelayOptions, relay } from "./relay.js";
export { relaying } from "./relaying.js";
export type { Upstream, UpstreamTraits } from "./upstream.js";
