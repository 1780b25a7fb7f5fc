import { CAPABILITIES, type CapabilityId } from "../../protocols/features.js";

/** What a stretch of text can be taken for: a need of each capability, or nothing of the kind. */
export const READINGS: readonly (CapabilityId | "none")[] = [...CAPABILITIES.map(({ id }) => id), "none"];
