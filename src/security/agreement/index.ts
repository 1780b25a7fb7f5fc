/** Agreement on the secret of a session: ephemeral keys, and the hash of what both sides said. */

export { type EphemeralKey, ephemeralKey } from "./ephemeral-key.js";
export { p256EphemeralKey } from "./p256-key.js";
export { transcriptHash } from "./transcript.js";
