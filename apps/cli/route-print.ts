import type { Json } from "../../src/index.js";
import {
  type Bandit,
  CAPABILITIES,
  DECISION_FIELDS,
  type DecidedBy,
  type Decision,
  FACETS,
  type Features,
  type Judgement,
  PRIORITY,
  type RouterSettings,
  type Routing,
} from "../../src/router/index.js";
import { oneLine } from "./printable.js";

const ID_CHARACTERS = 40;
const EVIDENCE_CHARACTERS = 70;

/** The record of the specification has these members and no other. */
const STRICT_FIELDS: readonly (keyof Decision)[] = ["module_id", "selected_protocol", "evidence_spans", "rationale"];

/** Only the documented members, in their order. */
export function decisionJson(decision: Decision, record: "full" | "strict" = "full"): Json {
  const fields = record === "strict" ? STRICT_FIELDS : DECISION_FIELDS;
  const members = fields.flatMap((name) => (decision[name] === undefined ? [] : [[name, decision[name]] as const]));
  return Object.fromEntries(members) as Json; // a decision is plain data
}

/** A line for each module. */
export function decisionTable(decisions: readonly Decision[]): string {
  const rows = decisions.map((decision) => [
    oneLine(decision.scenario_id, ID_CHARACTERS),
    oneLine(decision.module_id, ID_CHARACTERS),
    chosenIn(decision),
    decision.margin.toFixed(2),
    // Without a quotation, the reason.
    oneLine(decision.evidence_spans[0] ?? decision.rationale, EVIDENCE_CHARACTERS),
  ]);
  return tableOf(["scenario", "module", "protocol", "margin", "evidence"], rows);
}

/** The protocol, and whether the text decided it. */
function chosenIn({ selected_protocol: chosen, abstained }: Decision): string {
  if (chosen === null) return "undecided";
  return abstained ? `${oneLine(chosen, ID_CHARACTERS)}, not by the text` : oneLine(chosen, ID_CHARACTERS);
}

/** The chosen protocols that are not among these ids: a candidate may be described without being built in. */
export function notSpoken({ decisions, judgements }: Routing, spoken: ReadonlySet<string>): readonly string[] {
  const ids = new Map(judgements.flatMap(({ feasible }) => feasible.map(({ name, id }) => [name, id] as const)));
  const chosen = new Set(decisions.flatMap(({ selected_protocol: name }) => (name === null ? [] : [name])));
  return [...chosen].filter((name) => !spoken.has(ids.get(name) ?? ""));
}

/** The capabilities by facet, and the support of each candidate: native or composed. */
export function capabilityTable(rows: readonly Features[]): string {
  const lines = CAPABILITIES.map(({ id, facet, means, ...rest }) => [
    id,
    FACETS[facet],
    "hard" in rest && rest.hard ? "hard" : "",
    ...rows.map(({ support }) => support[id] ?? "-"),
    means,
  ]);
  return tableOf(["capability", "facet", "", ...rows.map(({ name }) => name), "a module needs it that says"], lines);
}

/** The feature model as JSON. */
export function capabilityJson(rows: readonly Features[]): Json {
  const features = { facets: FACETS, capabilities: CAPABILITIES, protocols: rows };
  return features as unknown as Json; // the feature model is plain data
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = [head, ...rows].map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

const NAME_CHARACTERS = 40;
const LINE_CHARACTERS = 1_000;

/** Weaker claims are not shown. */
const FAINT = 0.01;

const DECIDED_BY: { readonly [by in DecidedBy]: string } = {
  constraints: "the constraints, which leave no other",
  priority: "the strongest group of needs",
  narrative: "the phrase that stands first",
  ranking: "the ranking",
  order: "the order of last resort",
  nothing: "nothing in the text",
};

/** What the bandit knows in a context, by protocol id. */
export interface Learned {
  readonly context: string;
  readonly state: Awaited<ReturnType<Bandit["state"]>>;
}

/** The explanation of each decision, from the judgement it was made from. */
export function explanations({ decisions, judgements }: Routing, settings: RouterSettings, learned?: Learned): readonly string[] {
  return decisions.flatMap((decision, index) => {
    const judgement = judgements[index];
    return judgement === undefined ? [] : [explanation(decision, judgement, settings, learnedLines(judgement, learned))];
  });
}

/** The reasons for and against each protocol, for one module. */
function explanation(decision: Decision, judgement: Judgement, settings: RouterSettings, learned: readonly string[]): string {
  const { module_id: module, margin, rationale, evidence_spans: spans, rejected, prompt_sha256: prompt } = decision;
  const width = Math.max(0, ...rejected.map(({ protocol }) => protocol.length));
  const by = settings.scope === "scenario" ? "what suits all modules" : DECIDED_BY[judgement.decidedBy];
  return [
    `${oneLine(module, NAME_CHARACTERS)}: ${chosenIn(decision)}, margin ${margin.toFixed(2)}`,
    `  ${oneLine(rationale, LINE_CHARACTERS)}`,
    ...section(
      "evidence",
      spans.map((span) => `“${oneLine(span, LINE_CHARACTERS)}”${capabilityOf(span, judgement)}`),
    ),
    ...section(
      "rejected",
      rejected.map(({ protocol, because }) => `${oneLine(protocol, width).padEnd(width)}  ${oneLine(because, LINE_CHARACTERS)}`),
    ),
    ...section("needs", tierLines(judgement, settings)),
    ...section("learned", learned),
    ...section("decided", prompt === undefined ? [`by ${by}`] : [`by a model, with the prompt ${oneLine(prompt, 80)}`]),
    "",
  ].join("\n");
}

/** How calls went by each feasible protocol; empty where there is no choice. */
function learnedLines({ feasible }: Judgement, learned: Learned | undefined): readonly string[] {
  if (learned === undefined || feasible.length < 2) return [];
  const width = Math.max(...feasible.map(({ name }) => name.length));
  return feasible.map(({ id, name }) => {
    const known = learned.state.get(id);
    const words =
      known === undefined
        ? "not tried"
        : `mean reward ${((1 + known.good) / (2 + known.good + known.bad)).toFixed(2)} by ${(known.good + known.bad).toFixed(1)} outcomes`;
    return `${oneLine(name, width).padEnd(width)}  ${words}, in ${oneLine(learned.context, NAME_CHARACTERS)}`;
  });
}

/** The capability that a span was matched to; empty if it was found otherwise, for example by a model. */
function capabilityOf(span: string, { evidence }: Judgement): string {
  const readings = evidence.filter((each) => each.span.stance === "wanted" && each.quote() === span);
  const best = readings.reduce((high, each) => Math.max(high, each.share), 0);
  const id = readings.find(({ share }) => share === best)?.capability;
  const label = CAPABILITIES.find((capability) => capability.id === id)?.label;
  return label === undefined ? "" : `  ${label}`;
}

/** The protocols that each group of needs supports, the strongest claim first. */
function tierLines({ claims }: Judgement, { priority = PRIORITY }: RouterSettings): readonly string[] {
  const width = Math.max(...priority.map((tier) => tier.length));
  return priority.map((tier) => {
    const strong = claims.filter((claim) => claim.tier === tier && claim.weight >= FAINT).sort((a, b) => b.weight - a.weight);
    const names = strong.map(({ candidate }) => candidate.name);
    return `${tier.padEnd(width)}  ${names.length === 0 ? "select none" : `select ${names.join(", ")}`}`;
  });
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `  ${(index === 0 ? title : "").padEnd(8)}  ${line}`);
}
