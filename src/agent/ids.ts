import type { Ids } from "../protocols/protocol.js";

/** The one place where identity and time come from the air. */
export const systemIds: Ids = { now: () => Date.now(), newId: () => crypto.randomUUID() };
