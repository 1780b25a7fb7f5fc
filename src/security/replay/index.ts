/** Accepts each signed message once. */

export { Challenges } from "./challenges.js";
export { createReplayGuard, type ReplayGuardOptions } from "./memory-guard.js";
