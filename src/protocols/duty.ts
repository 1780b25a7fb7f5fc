import { isObject, type JsonObject, type Maybe } from "../envelope/index.js";
import type { ConformanceArea, Requirement } from "./requirement.js";

/** Thrown by a check that finds it has nothing to check; becomes `skipped` with the reason. */
export class NotApplicable extends Error {}

/** Ends a check that does not apply to this subject. */
export function skip(reason: string): never {
  throw new NotApplicable(reason);
}

/** Ends a check as unmet, with what was seen. */
export function demand(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Error(seen);
}

/** A requirement still without its id's prefix: what is demanded, where it is written, and how to see it. */
export interface DutyText {
  readonly key: string;
  readonly capability: ConformanceArea;
  readonly level?: Maybe<Requirement["level"]>;
  readonly source: string;
  readonly behaviour: string;
}

/** A duty as a requirement; a check that finds nothing to check is skipped with the reason. */
export function toRequirement(prefix: string, duty: DutyText, wire: Requirement["wire"], run: Requirement["check"]): Requirement {
  return {
    id: `${prefix}:${duty.key}`,
    capability: duty.capability,
    level: duty.level ?? "must",
    wire,
    source: duty.source,
    behaviour: duty.behaviour,
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
  demand(typeof value === "string" && value !== "", `${name} is ${show(value)}, not a string with content`);
  return value;
}

export function demandArray(value: unknown, name: string): readonly unknown[] {
  demand(Array.isArray(value), `${name} is ${show(value)}, not an array`);
  return value;
}

const SHOWN_CHARACTERS = 300;

/** A value in a sentence, cut to a length that fits one. */
export function show(value: unknown): string {
  const text = value === undefined ? "absent" : (JSON.stringify(value) ?? String(value));
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
