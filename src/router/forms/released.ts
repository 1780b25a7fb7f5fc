import { isObject, type Maybe } from "../../envelope/index.js";
import { defaultCandidates } from "../../protocols/candidates.js";
import type { Features } from "../../protocols/features.js";
import type { Module, Passage, Scenario } from "../scenario.js";
import type { ReadContext } from "./answers.js";
import { idOfModule, modulesIn } from "./finish.js";
import { Malformed, Members } from "./members.js";
import { protocolAt, rowNamed } from "./protocol-names.js";

/** `L3-Q7`: released files have the level in the id only. */
const LEVEL_OF_ID = /(?:^|-)L([1-5])-/;

/**
 * ProtocolRouterBench as released. Of the answers only the protocol is read; justifications and expectations would leak
 * them. Agent names say nothing about the needs of a module.
 */
export function readReleased(record: unknown, context: ReadContext): Scenario {
  const members = new Members(record, "");
  const id = members.neededName("id");
  const list = modulesIn(members, "module");
  context.answer(() => checkCount(members, list.length));
  const labels = context.answer(() =>
    members.has("ground_truth") ? new Members(members.value("ground_truth"), "ground_truth") : undefined,
  );
  return {
    id,
    level: levelOf(id),
    description: members.looseText("description"),
    modules: list.map((item, index) => ({
      ...moduleOf(new Members(item, `module[${index}]`), context.rows),
      id: idOfModule(id, index),
      label: labels === undefined ? undefined : context.answer(() => labelOf(labels, String(index + 1), context.rows)),
    })),
  };
}

/** A higher count than the number of modules means that a record is missing. */
function checkCount(members: Members, modules: number): void {
  const count = members.value("modules_count");
  if (count !== undefined && count !== modules)
    throw new Malformed("module", `has ${modules} modules where modules_count promises ${String(count)}`);
}

function levelOf(id: string): Maybe<number> {
  const level = LEVEL_OF_ID.exec(id)?.[1];
  return level === undefined ? undefined : Number(level);
}

function moduleOf(module: Members, rows: readonly Features[]): Omit<Module, "id"> {
  const needs = module.texts("tasks").map((text): Passage => ({ kind: "need", text }));
  if (needs.length === 0) throw new Malformed(module.at("tasks"), "is missing");
  const risks = module.texts("potential_issues").map((text): Passage => ({ kind: "risk", text }));
  return { passages: [{ kind: "name", text: module.neededText("name") }, ...needs, ...risks], only: onlyOf(module, rows) };
}

/** Choices are a constraint only if they exclude one of the usual candidates. */
function onlyOf(module: Members, rows: readonly Features[]): Maybe<readonly string[]> {
  const selection = module.value("protocol_selection");
  if (selection === undefined) return undefined;
  const choices = new Members(selection, module.at("protocol_selection")).texts("choices");
  const usual = defaultCandidates(rows).map(({ name }) => name);
  const named = choices.flatMap((word) => rowNamed(word, rows)?.name ?? []);
  if (choices.length === 0 || usual.every((name) => named.includes(name))) return undefined;
  if (named.length === 0) throw new Malformed(`${module.at("protocol_selection")}.choices`, "names no protocol that is known");
  return named;
}

function labelOf(labels: Members, key: string, rows: readonly Features[]): string {
  const answer = labels.value(key);
  const where = labels.at(key);
  if (!isObject(answer)) throw new Malformed(where, answer === undefined ? "is missing" : "must be an object");
  return protocolAt(new Members(answer, where).neededText("module_protocol"), rows, `${where}.module_protocol`);
}
