import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { SettingInfo } from "../protocol.js";

export interface AcpSettings {
  /** The maximum number of runs in a session, newest first. */
  readonly sessionRuns: number;
}

const DEFAULT_SESSION_RUNS = 1_000;
const MOST_SESSION_RUNS = 100_000;

/** The settings, for help texts. */
export const SETTINGS: readonly SettingInfo[] = [
  {
    name: "sessionRuns",
    kind: "number",
    example: "100",
    about: `number of newest runs listed in a session, at most ${MOST_SESSION_RUNS}; ${DEFAULT_SESSION_RUNS} by default`,
  },
];

/** The settings of the user, validated at start. */
export function readSettings(given: Maybe<JsonObject>): AcpSettings {
  return { sessionRuns: count(given, "sessionRuns", DEFAULT_SESSION_RUNS, MOST_SESSION_RUNS) };
}

function count(given: Maybe<JsonObject>, field: string, otherwise: number, most: number): number {
  const value = given?.[field] ?? otherwise;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new AgentError("invalid_message", `acp.${field} must be a whole number from 1 to ${most}`, { field });
}
