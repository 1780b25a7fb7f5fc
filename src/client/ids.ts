import type { IdSource } from "../protocols/protocol.js";

// Bound once: the global is an accessor, and asking it for every id costs as much as making the id.
const newId = crypto.randomUUID.bind(crypto);

/** The one place where identity and time come from the air. */
export const systemIds: IdSource = { now: () => Date.now(), newId };
