import { CAPABILITIES, type CapabilityId } from "../../protocols/features.js";

/** The classes of a text: a need for each capability, or none. */
export const READINGS: readonly (CapabilityId | "none")[] = [...CAPABILITIES.map(({ id }) => id), "none"];
