import type { Maybe } from "../../envelope/index.js";
import type { Scenario } from "../scenario.js";
import { CHARACTERS_PER_MODULE, MODULES_PER_SCENARIO } from "./limits.js";
import { Malformed, type Members } from "./members.js";

/** The default id of a module. */
export function idOfModule(scenario: string, index: number): string {
  return `${scenario}-M${index + 1}`;
}

/** Undefined for an empty list. */
export function orNone<T>(list: Maybe<readonly T[]>): Maybe<readonly T[]> {
  return list === undefined || list.length === 0 ? undefined : list;
}

/** The unparsed list of modules, within the limit. */
export function modulesIn(record: Members, name: string): readonly unknown[] {
  const modules = record.list(name);
  if (modules === undefined) throw new Malformed(record.at(name), "is missing");
  if (modules.length === 0) throw new Malformed(record.at(name), "has no module");
  if (modules.length > MODULES_PER_SCENARIO)
    throw new Malformed(record.at(name), `has ${modules.length} modules, and may have ${MODULES_PER_SCENARIO}`);
  return modules;
}

const LEVEL = /^L?([1-5])$/i;

/** `3`, `"3"` or `"L3"`. */
export function levelIn(record: Members, name: string): Maybe<number> {
  const value = record.value(name);
  if (value === undefined) return undefined;
  const level = LEVEL.exec(String(value))?.[1];
  if (level === undefined || typeof value === "object")
    throw new Malformed(record.at(name), "must be a level from 1 to 5, or L1 to L5");
  return Number(level);
}

/** The checks common to all forms. */
export function checkScenario({ description, modules }: Scenario): void {
  if (description.length > CHARACTERS_PER_MODULE)
    throw new Malformed("the description", `is longer than ${CHARACTERS_PER_MODULE} characters`);
  const ids = new Set<string>();
  for (const { id, passages } of modules) {
    if (ids.has(id)) throw new Malformed(`module ${JSON.stringify(id)}`, "is there twice");
    ids.add(id);
    const size = passages.reduce((sum, { text }) => sum + text.length, 0);
    if (size > CHARACTERS_PER_MODULE)
      throw new Malformed(`module ${JSON.stringify(id)}`, `has more than ${CHARACTERS_PER_MODULE} characters`);
  }
}
