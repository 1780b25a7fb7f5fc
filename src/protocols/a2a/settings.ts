import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";

/**
 * The two published error tables (A2A 1.0.0 and 1.0.1) differ in six cells, and a patch version is not negotiated, so a
 * server has to choose. `1.0.1` is current and the default; `1.0.0` is the table of the seed and also writes the problem
 * members (`type`, `title`, `status`, `detail`) beside `error`.
 */
export const ERROR_PROFILES = ["1.0.1", "1.0.0"] as const;
export type ErrorProfile = (typeof ERROR_PROFILES)[number];

export interface A2aSettings {
  readonly errorProfile: ErrorProfile;
}

/** The user's settings for this protocol, checked at start. */
export function readSettings(given: Maybe<JsonObject>): A2aSettings {
  const errorProfile = given?.["errorProfile"] ?? "1.0.1";
  const known = ERROR_PROFILES.find((profile) => profile === errorProfile);
  if (known === undefined) {
    throw new AgentError("invalid_message", `errorProfile must be one of ${ERROR_PROFILES.join(", ")}`, {
      field: "errorProfile",
    });
  }
  return { errorProfile: known };
}
