import { DecodeProblem } from "../../../transport/fields.js";
import { shown } from "../wire.js";

/** ProtoJSON: the name or the number. `ROLE_UNSPECIFIED` is rejected. */
export function readRole(value: unknown, path: string): "user" | "agent" {
  if (value === "ROLE_USER" || value === 1) return "user";
  if (value === "ROLE_AGENT" || value === 2) return "agent";
  throw new DecodeProblem(path, problemOf(value, "ROLE_USER or ROLE_AGENT"));
}

/** The lower-case names of 0.3's JSON schema. */
export function readKindRole(value: unknown, path: string): "user" | "agent" {
  if (value === "user" || value === "agent") return value;
  throw new DecodeProblem(path, problemOf(value, "user or agent"));
}

function problemOf(value: unknown, allowed: string): string {
  if (value === undefined || value === null) return `is missing; ${allowed} is expected`;
  return `must be ${allowed}, not ${shown(value)}`;
}
