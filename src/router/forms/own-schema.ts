import { CAPABILITIES } from "../../protocols/features.js";
import {
  CHARACTERS_PER_MODULE,
  CHARACTERS_PER_NAME,
  LINKS_PER_SCENARIO,
  MODULES_PER_SCENARIO,
  SCENARIOS_PER_FILE,
} from "./limits.js";

/** The subset of JSON Schema that the native form uses and `schemaProblem` checks. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
}

const TEXT = { type: "string", pattern: "\\S", maxLength: CHARACTERS_PER_MODULE } as const;
const ID = { type: "string", pattern: "\\S", maxLength: CHARACTERS_PER_NAME } as const;

function listOf(items: Schema, description: string): Schema {
  return { type: "array", items, description };
}

const CAPABILITY: Schema = { type: "string", enum: CAPABILITIES.map(({ id }) => id) };

const MODULE: Schema = {
  type: "object",
  description: "One module: it gets one protocol. Prose, requirements without prose, or both.",
  properties: {
    id: { ...ID, description: "Unique in its scenario. Default: the scenario's id, -M, and the index from 1." },
    name: { ...TEXT, description: "A title." },
    text: { ...TEXT, description: "What it does and needs, as free text." },
    tasks: listOf(TEXT, "The same, as a list of tasks."),
    risks: listOf(TEXT, "What must not happen: “messages are read in transit” implies confidentiality."),
    requires: listOf(CAPABILITY, "Capabilities it needs; hard ones exclude every protocol without them."),
    avoids: listOf(CAPABILITY, "Capabilities it must not be built on."),
    only: listOf(ID, "Protocols: one of these and no other."),
    never: listOf(ID, "Protocols: none of these."),
    must: listOf(TEXT, "Phrases that state requirements."),
    mustNot: listOf(TEXT, "Phrases that state exclusions."),
    neighbours: listOf(ID, "Ids of the modules it communicates with."),
    label: { ...ID, description: "The correct protocol, if known. The router does not read it." },
  },
  additionalProperties: false,
};

const SCENARIO: Schema = {
  type: "object",
  description: "Modules that work together.",
  properties: {
    scenario: { ...ID, description: "The scenario's id." },
    description: {
      type: "string",
      maxLength: CHARACTERS_PER_MODULE,
      description: "Describes the whole scenario. Applies to a module only where it is about all modules.",
    },
    topology: {
      type: ["string", "array"],
      description: "Connections: pairs of ids, or chain, ring, mesh, or star: and the id of its centre.",
      pattern: "^(chain|ring|mesh|star:.*\\S.*)$",
      items: { type: "array", items: ID, minItems: 2, maxItems: 2 },
      maxItems: LINKS_PER_SCENARIO,
    },
    modules: { type: "array", items: { $ref: "#/$defs/module" }, minItems: 1, maxItems: MODULES_PER_SCENARIO },
  },
  required: ["scenario", "modules"],
  additionalProperties: false,
};

/** The native form as JSON Schema (draft 2020-12). The reader validates against this object. */
export const SCENARIO_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "urn:koine:router-scenario:1",
  title: "Koine router scenarios",
  description: "One scenario, a list of them, or an object with the list. As JSON or YAML.",
  oneOf: [
    { $ref: "#/$defs/scenario" },
    { $ref: "#/$defs/scenarios" },
    {
      type: "object",
      properties: { scenarios: { $ref: "#/$defs/scenarios" } },
      required: ["scenarios"],
      additionalProperties: false,
    },
  ],
  $defs: {
    scenario: SCENARIO,
    module: MODULE,
    scenarios: { type: "array", items: { $ref: "#/$defs/scenario" }, maxItems: SCENARIOS_PER_FILE },
  },
} as const;
