import type { Maybe } from "../../envelope/index.js";
import type { CapabilityId } from "../../protocols/features.js";
import type { Module, Passage, PassageKind, Scenario } from "../scenario.js";
import type { ReadContext } from "./answers.js";
import { checkSchema } from "./check-schema.js";
import { idOfModule, orNone } from "./finish.js";
import { SCENARIO_SCHEMA } from "./own-schema.js";
import { protocolAt } from "./protocol-names.js";
import { neighboursOf } from "./topology.js";

/** A document that passed the schema. */
interface OwnModule {
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
  readonly tasks?: readonly string[];
  readonly risks?: readonly string[];
  readonly requires?: readonly CapabilityId[];
  readonly avoids?: readonly CapabilityId[];
  readonly only?: readonly string[];
  readonly never?: readonly string[];
  readonly must?: readonly string[];
  readonly mustNot?: readonly string[];
  readonly neighbours?: readonly string[];
  readonly label?: string;
}

interface OwnScenario {
  readonly scenario: string;
  readonly description?: string;
  readonly topology?: string | readonly (readonly string[])[];
  readonly modules: readonly OwnModule[];
}

/** The native form, as defined by `SCENARIO_SCHEMA`. */
export function readOwn(record: unknown, context: ReadContext): Scenario {
  checkSchema(record, SCENARIO_SCHEMA.$defs.scenario, SCENARIO_SCHEMA.$defs);
  const { scenario, description = "", topology, modules } = record as OwnScenario; // the schema was just checked
  const ids = modules.map(({ id }, index) => id ?? idOfModule(scenario, index));
  const named = new Map(modules.map(({ neighbours = [] }, index) => [ids[index] ?? "", neighbours]));
  const neighbours = neighboursOf(ids, topology, named);
  return {
    id: scenario,
    description,
    modules: modules.map((module, index) => {
      const id = ids[index] ?? "";
      return moduleOf({ ...module, id, neighbours: neighbours.get(id) ?? [] }, `modules[${index}]`, context);
    }),
  };
}

function moduleOf(module: OwnModule & { readonly id: string }, where: string, { rows, answer }: ReadContext): Module {
  const { id, requires, avoids, only, never, neighbours, label } = module;
  const protocols = (words: Maybe<readonly string[]>, member: string): Maybe<readonly string[]> =>
    orNone((words ?? []).map((word, index) => protocolAt(word, rows, `${where}.${member}[${index}]`)));
  return {
    id,
    passages: passagesOf(module),
    requires: orNone(requires),
    avoids: orNone(avoids),
    only: protocols(only, "only"),
    never: protocols(never, "never"),
    neighbours: orNone(neighbours),
    label: label === undefined ? undefined : answer(() => protocolAt(label, rows, `${where}.label`)),
  };
}

function passagesOf({ name, text, tasks = [], risks = [], must = [], mustNot = [] }: OwnModule): readonly Passage[] {
  const as = (kind: PassageKind, texts: readonly Maybe<string>[]): readonly Passage[] =>
    texts.flatMap((each) => (each === undefined ? [] : [{ kind, text: each }]));
  return [
    ...as("name", [name]),
    ...as("need", [text, ...tasks]),
    ...as("risk", risks),
    ...as("must", must),
    ...as("mustNot", mustNot),
  ];
}
