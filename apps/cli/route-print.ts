import type { Json } from "../../src/index.js";
import { CAPABILITIES, DECISION_FIELDS, type Decision, FACETS, type Features } from "../../src/router/index.js";
import { oneLine } from "./printable.js";

const ID_CHARACTERS = 40;
const EVIDENCE_CHARACTERS = 70;

/** Members in the order of the list, and nothing else, whatever the object holds. */
export function decisionJson(decision: Decision): Json {
  const members = DECISION_FIELDS.flatMap((name) => (decision[name] === undefined ? [] : [[name, decision[name]] as const]));
  return Object.fromEntries(members) as Json; // a decision is plain data
}

/** A line for each module. */
export function decisionTable(decisions: readonly Decision[]): string {
  const rows = decisions.map((decision) => [
    oneLine(decision.scenario_id, ID_CHARACTERS),
    oneLine(decision.module_id, ID_CHARACTERS),
    chosenIn(decision),
    decision.margin.toFixed(2),
    oneLine(decision.evidence_spans[0] ?? "", EVIDENCE_CHARACTERS),
  ]);
  return tableOf(["scenario", "module", "protocol", "margin", "evidence"], rows);
}

/** The protocol, and whether the text said so. */
export function chosenIn({ selected_protocol: chosen, abstained }: Decision): string {
  if (chosen === null) return "undecided";
  return abstained ? `${oneLine(chosen, ID_CHARACTERS)}, not by the text` : oneLine(chosen, ID_CHARACTERS);
}

/** What modules can need, by facet, and which candidates bring it: by a primitive of their own, or composed. */
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

/** The same as data. */
export function capabilityJson(rows: readonly Features[]): Json {
  const features = { facets: FACETS, capabilities: CAPABILITIES, protocols: rows };
  return features as unknown as Json; // the feature model is plain data
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = [head, ...rows].map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}
