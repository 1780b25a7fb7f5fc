import type { Json, JsonObject, Maybe } from "../../envelope/index.js";
import type { Features } from "../../protocols/features.js";
import { EVIDENCE_SPANS } from "../lint/decision.js";
import { RATIONALE_CHARACTERS } from "../lint/rationale.js";
import type { ModelFunction } from "../models/index.js";
import { TEMPLATES, VERSION } from "../prompts/protocol-selection-v1.js";
import type { OpenQuestion } from "../second-opinion.js";
import { dataBlock } from "./data-block.js";
import { describeRow } from "./describe-row.js";

/** `spec`: the feature model alone. `spec+perf`: it also knows a ranking, which breaks ties and nothing else. */
export type PromptVariant = keyof typeof TEMPLATES;

/** Everything a model is given with one question. */
export interface Prompt {
  readonly version: string;
  /** Our own words, and the rows of the feature model. */
  readonly system: string;
  /** What the file says, as data. */
  readonly user: string;
  readonly function: ModelFunction;
}

/** The function a model has to call. */
export const SELECTION = "protocol_selection";

/** The prompt for one module. Without a ranking nothing is left of `spec+perf` but `spec`, and the version says so. */
export function writePrompt(question: OpenQuestion, variant: PromptVariant): Prompt {
  const { feasible } = question;
  const ranking = question.ranking?.filter((name) => feasible.some((row) => row.name === name)) ?? [];
  const used = ranking.length === 0 ? "spec" : variant;
  return {
    version: `${VERSION}.${used}`,
    system: fillTemplate(TEMPLATES[used], feasible, ranking),
    user: writeData(question),
    function: selectionFunction(feasible),
  };
}

/** In one pass, so that what is filled in is not looked through for blanks again. */
export function fillTemplate(template: string, rows: readonly Features[], ranking: Maybe<readonly string[]>): string {
  const blanks: Readonly<Record<string, Maybe<string>>> = {
    candidates: rows.map(describeRow).join("\n\n"),
    ranking: ranking?.join(", "),
  };
  return template.replace(/\{\{(\w+)\}\}/g, (blank, name: string) => blanks[name] ?? blank);
}

/** The question itself. Neither the label nor the level is shown, nor any other module. */
export function writeData({ scenario, module, input }: Pick<OpenQuestion, "scenario" | "module" | "input">): string {
  return dataBlock("data", {
    scenario: scenario.description,
    module_id: module.id,
    texts: input.map((text): JsonObject => ({ kind: module.passages.find((passage) => passage.text === text)?.kind, text })),
    requires: module.requires ?? [],
    avoids: module.avoids ?? [],
  });
}

/** Its schema holds nothing a file says: a schema is no place for data. */
export function selectionFunction(feasible: readonly Features[]): ModelFunction {
  const properties: Readonly<Record<string, Json>> = {
    module_id: { type: "string", description: "as in the data" },
    selected_protocol: { type: "string", enum: feasible.map(({ name }) => name) },
    evidence_spans: {
      type: "array",
      items: { type: "string" },
      maxItems: EVIDENCE_SPANS,
      description: "pieces of the texts, character for character",
    },
    rationale: {
      type: "string",
      maxLength: RATIONALE_CHARACTERS,
      description: "needed capabilities and quoted spans; no digits, nothing about performance",
    },
  };
  return {
    name: SELECTION,
    description: "Says which protocol the module gets, and why.",
    parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
  };
}
