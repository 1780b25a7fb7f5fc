/** Between two messages: one protocol in front of another. */
export { adopting } from "./adopt.js";
export type { AdoptParts, CredentialSeal } from "./adopt-parts.js";
export { cancelAdopted, closeAdopted } from "./adopted-work.js";
export { CARD_POLICIES, type CardFacts, type CardPolicy, cardInFront } from "./card-policy.js";
export { EMULATED_KEY, emulationMarks, emulationRefused } from "./emulation.js";
export { refuseLoops } from "./hops.js";
export { type CountedLoss, LossAccount, type LossReport } from "./loss-report.js";
export { type RelayOptions, relay } from "./relay.js";
export { relaying } from "./relaying.js";
export type { Upstream, UpstreamTraits } from "./upstream.js";
