import type { Passage, Scenario } from "../scenario.js";
import type { ReadContext } from "./answers.js";
import { idOfModule, levelIn, modulesIn } from "./finish.js";
import { labelIn } from "./labelled.js";
import { Members } from "./members.js";
import { shareOut } from "./role-text.js";

/** A numeric role, such as M1, is not a title. */
const NUMBERED = /^m?\d+$/i;

/** The paper's form in which one text describes all modules, and each module has a role in it. */
export function readRoles(record: unknown, context: ReadContext): Scenario {
  const members = new Members(record, "");
  const id = members.neededName("scenario_id");
  const text = members.neededText("text");
  const modules = modulesIn(members, "modules").map((item, index) => {
    const module = new Members(item, `modules[${index}]`);
    const role = module.neededName("role");
    return {
      id: module.name("module_id") ?? idOfModule(id, index),
      role,
      label: context.answer(() => labelIn(module, context.rows)),
    };
  });
  const { pieces, rest } = shareOut(text, modules);
  return {
    id,
    level: context.answer(() => levelIn(members, "difficulty") ?? levelIn(members, "level")),
    description: rest,
    modules: modules.map(({ id: module, role, label }, index) => ({
      id: module,
      passages: [
        ...(NUMBERED.test(role) ? [] : [{ kind: "name", text: role } as const]),
        ...(pieces[index] ?? []).map((piece): Passage => ({ kind: "need", text: piece })),
      ],
      label,
    })),
  };
}
