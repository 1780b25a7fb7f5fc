import type { Context } from "./envelope.js";
import { AgentError } from "./error.js";
import type { Maybe } from "./json.js";

type Versions = Pick<Context, "minVersion" | "maxVersion">;

const NUMBERS = /^\d{1,9}(?:\.\d{1,9}){0,3}$/;

/** Whether a text is a version number such as `1.0`. */
export function isVersionNumber(text: string): boolean {
  return NUMBERS.test(text);
}

/**
 * Why a protocol version does not fit `min_version` and `max_version` of a message; undefined if it does. Missing numbers are zero.
 * A version that is a name has no order: whoever gives it the name checks it.
 */
export function versionProblem(version: string, { minVersion, maxVersion }: Versions): Maybe<AgentError> {
  if (minVersion === undefined && maxVersion === undefined) return undefined;
  for (const [name, limit] of [["min_version", minVersion] as const, ["max_version", maxVersion] as const])
    if (limit !== undefined && !isVersionNumber(limit))
      return new AgentError("invalid_message", `${name} must be a version number such as 1.0`, { field: `context.${name}` });
  if (!isVersionNumber(version)) return undefined;
  if (minVersion !== undefined && compareVersions(version, minVersion) < 0)
    return misfit(`${version} is below min_version ${minVersion} of the message`);
  if (maxVersion !== undefined && compareVersions(version, maxVersion) > 0)
    return misfit(`${version} is above max_version ${maxVersion} of the message`);
  return undefined;
}

function misfit(why: string): AgentError {
  return new AgentError("unsupported_version", `protocol version ${why}`);
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split("."), b.split(".")];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = Number(left[index] ?? 0) - Number(right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
