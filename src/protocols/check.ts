import { isObject, type JsonObject, type Maybe } from "../envelope/index.js";
import type { ConformanceArea, Requirement } from "./requirement.js";

/** Thrown by a check that does not apply to the endpoint. The requirement is reported as skipped. */
export class NotApplicable extends Error {}

/** Skips the current check, with the reason. */
export function skip(reason: string): never {
  throw new NotApplicable(reason);
}

/** Fails the current check unless the condition holds. `seen` describes what the endpoint did. */
export function demand(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Error(seen);
}

/** The description of a requirement, without the prefix of its id. */
export interface RequirementText {
  readonly key: string;
  readonly capability: ConformanceArea;
  readonly level?: Maybe<Requirement["level"]>;
  readonly source: string;
  readonly behaviour: string;
}

/** Makes a requirement from its description and its check. */
export function toRequirement(
  prefix: string,
  text: RequirementText,
  wire: Requirement["wire"],
  run: Requirement["check"],
): Requirement {
  return {
    id: `${prefix}:${text.key}`,
    capability: text.capability,
    level: text.level ?? "must",
    wire,
    source: text.source,
    behaviour: text.behaviour,
    async check(subject) {
      try {
        return await run(subject);
      } catch (thrown) {
        if (thrown instanceof NotApplicable) return { skipped: thrown.message };
        throw thrown;
      }
    },
  };
}

export function demandObject(value: unknown, name: string): JsonObject {
  demand(isObject(value), `${name} is ${show(value)}, not an object`);
  return value;
}

export function demandString(value: unknown, name: string): string {
  demand(typeof value === "string" && value !== "", `${name} is ${show(value)}, not a non-empty string`);
  return value;
}

export function demandArray(value: unknown, name: string): readonly unknown[] {
  demand(Array.isArray(value), `${name} is ${show(value)}, not an array`);
  return value;
}

const SHOWN_CHARACTERS = 300;

/** Formats a value for a message, truncated. */
export function show(value: unknown): string {
  const text = value === undefined ? "absent" : (JSON.stringify(value) ?? String(value));
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
