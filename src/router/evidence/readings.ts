import { CAPABILITIES, type CapabilityId } from "../../protocols/features.js";

/** The classes of a text: a need for each capability that is read by meaning, or none. */
export const READINGS: readonly (CapabilityId | "none")[] = [
  ...CAPABILITIES.filter((each) => !("named" in each)).map(({ id }) => id),
  "none",
];
