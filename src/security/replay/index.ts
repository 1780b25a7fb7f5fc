/** Accepts each signed message once. */

export { createReplayGuard, type ReplayGuardOptions } from "./memory-guard.js";
