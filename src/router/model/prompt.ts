import { isObject, type Json, type JsonObject, type Maybe } from "../../envelope/index.js";
import { CAPABILITIES, type Features, type Support } from "../../protocols/features.js";
import { EVIDENCE_SPANS } from "../lint/decision.js";
import { RATIONALE_CHARACTERS } from "../lint/rationale.js";
import type { ModelFunction } from "../models/index.js";
import { TEMPLATES, VERSION } from "../prompts/protocol-selection-v1.js";
import type { OpenQuestion } from "../second-opinion.js";
import { dataBlock } from "./data-block.js";

/** `spec`: the feature model alone. `spec+perf`: it also knows a ranking, which breaks ties and nothing else. */
export type PromptVariant = keyof typeof TEMPLATES;

/** The complete prompt of one request. */
export interface Prompt {
  readonly version: string;
  /** The instructions, with the rows of the feature model. */
  readonly system: string;
  /** The content of the file, as escaped data. */
  readonly user: string;
  readonly function: ModelFunction;
}

/** The function the model must call. */
export const SELECTION = "protocol_selection";

/** The prompt for one module. Without a ranking `spec+perf` becomes `spec`, and the version says so. */
export function writePrompt(question: OpenQuestion, variant: PromptVariant, template?: Maybe<string>): Prompt {
  const { feasible } = question;
  const ranking = question.ranking?.filter((name) => feasible.some((row) => row.name === name)) ?? [];
  const used = ranking.length === 0 ? "spec" : variant;
  return {
    version: template === undefined ? `${VERSION}.${used}` : "own",
    system: fillTemplate(template ?? TEMPLATES[used], feasible, ranking),
    user: writeData(question),
    function: selectionFunction(feasible),
  };
}

/** In one pass, so that filled-in text is not searched for placeholders. */
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

/** A row of the feature model as text for the model. */
export function describeRow({ name, title, madeFor, lessSuitedFor, facts, support }: Features): string {
  const labels = (how: Support | undefined): string =>
    CAPABILITIES.filter(({ id }) => support[id] === how)
      .map(({ label }) => label)
      .join(", ") || "nothing";
  return [
    `${name}: ${title}`,
    `- made for ${madeFor}`,
    `- less suited for ${lessSuitedFor}`,
    ...facts.map((fact) => `- ${fact}`),
    `- carries by itself: ${labels("native")}`,
    `- carries with layers on top: ${labels("composed")}`,
    `- cannot carry: ${labels(undefined)}`,
  ].join("\n");
}

/** SHA-256 of the prompt as canonical JSON: no white space, sorted members. */
export async function hashPrompt(prompt: Prompt): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(prompt, sorted));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sorted(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
