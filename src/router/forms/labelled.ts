import type { Maybe } from "../../envelope/index.js";
import type { CapabilityId, Features } from "../../protocols/features.js";
import type { Module, Passage, Scenario } from "../scenario.js";
import type { ReadContext } from "./answers.js";
import { idOfModule, levelIn, modulesIn, orNone } from "./finish.js";
import { Members } from "./members.js";
import { capabilityNamed, protocolAt, rowNamed } from "./protocol-names.js";

/**
 * The paper's form in which every module has its own text, with `locks` and `excludes`. Its `evidence` belongs to the
 * answers and is not read.
 */
export function readLabelled(record: unknown, context: ReadContext): Scenario {
  const members = new Members(record, "");
  const id = members.neededName("scenario_id");
  return {
    id,
    level: context.answer(() => levelIn(members, "level") ?? levelIn(members, "difficulty")),
    description: ["title", "name", "description", "text"].flatMap((name) => members.text(name) ?? []).join("\n"),
    modules: modulesIn(members, "modules").map((item, index) => {
      const module = new Members(item, `modules[${index}]`);
      return moduleOf(module, module.name("module_id") ?? idOfModule(id, index), context);
    }),
  };
}

function moduleOf(module: Members, id: string, context: ReadContext): Module {
  const title = module.text("name") ?? module.text("role");
  const locks = sorted(module.texts("locks"), context.rows);
  const excludes = sorted(module.texts("excludes").map(withoutNo), context.rows);
  return {
    id,
    passages: [
      ...(title === undefined ? [] : [{ kind: "name", text: title } as const]),
      { kind: "need", text: module.neededText("text") },
      ...locks.phrases.map((text): Passage => ({ kind: "must", text })),
      ...excludes.phrases.map((text): Passage => ({ kind: "mustNot", text })),
    ],
    requires: orNone(locks.capabilities),
    avoids: orNone(excludes.capabilities),
    only: orNone(locks.protocols),
    never: orNone(excludes.protocols),
    label: context.answer(() => labelIn(module, context.rows)),
  };
}

/** `label` in one form of the paper, `gt` in the other. */
export function labelIn(module: Members, rows: readonly Features[]): Maybe<string> {
  const name = module.has("label") ? "label" : "gt";
  const label = module.text(name);
  return label === undefined ? undefined : protocolAt(label, rows, module.at(name));
}

/** "no REST" in `excludes` excludes REST. */
function withoutNo(phrase: string): string {
  return phrase.replace(/^\s*(?:no|not|without|avoid|never)\s+(?:any\s+)?(?=\S)/iu, "");
}

/** The values of locks and excludes: protocols, capabilities of the model, or free text. */
interface Sorted {
  readonly protocols: readonly string[];
  readonly capabilities: readonly CapabilityId[];
  readonly phrases: readonly string[];
}

function sorted(words: readonly string[], rows: readonly Features[]): Sorted {
  const protocols: string[] = [];
  const capabilities: CapabilityId[] = [];
  const phrases: string[] = [];
  for (const word of words) {
    const row = rowNamed(word, rows);
    const capability = capabilityNamed(word);
    if (row !== undefined) protocols.push(row.name);
    else if (capability !== undefined) capabilities.push(capability);
    else phrases.push(word);
  }
  return { protocols, capabilities, phrases };
}
