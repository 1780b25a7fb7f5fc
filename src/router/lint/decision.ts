import { isObject, type JsonObject } from "../../envelope/index.js";
import type { Features } from "../../protocols/features.js";
import { DECISION_FIELDS } from "../decision.js";
import { lintRationale, lintReason, shown } from "./rationale.js";

/** The most evidence spans of one decision. */
export const EVIDENCE_SPANS = 32;
/** The number of unknown members listed by name. */
const SHOWN_MEMBERS = 8;

/** What a decision is checked against. */
export interface LintContext {
  /** The module's own texts, which every span must be quoted from. */
  readonly input: readonly string[];
  /** The rows of the feature model in use. */
  readonly features: readonly Features[];
}

/** All problems of a decision record, as sentences; empty if it is valid. Never throws. */
export function lintDecision(decision: unknown, context: LintContext): readonly string[] {
  if (!isObject(decision)) return ["a decision is an object"];
  return [
    ...lintMembers(decision, DECISION_FIELDS, "prompt_sha256"),
    ...lintIds(decision),
    ...lintChoice(decision, context),
    ...lintMargin(decision["margin"]),
    ...lintSpans(decision["evidence_spans"], context.input),
    ...lintExplanation(decision, context),
    ...lintRejected(decision, context),
    ...lintHash(decision["prompt_sha256"]),
  ];
}

/** Unknown and missing members. A member with the value undefined is missing. */
function lintMembers(object: JsonObject, fields: readonly string[], optional?: string): readonly string[] {
  const strange = Object.keys(object).filter((name) => !fields.includes(name));
  const missing = fields.filter((name) => name !== optional && object[name] === undefined);
  return [
    ...strange.slice(0, SHOWN_MEMBERS).map((name) => `${shown(name)} is no member of it`),
    ...missing.map((name) => `${name}: is missing`),
  ];
}

function lintIds(decision: JsonObject): readonly string[] {
  return ["scenario_id", "module_id"]
    .filter((name) => !isText(decision[name]))
    .map((name) => `${name}: must be a string, not empty`);
}

function lintChoice({ selected_protocol, abstained }: JsonObject, { features }: LintContext): readonly string[] {
  const problems: string[] = [];
  if (typeof abstained !== "boolean") problems.push("abstained: must be true or false");
  if (selected_protocol === null) {
    if (abstained !== true) problems.push("selected_protocol: is null, which only an abstention may leave");
  } else if (!isCandidate(selected_protocol, features))
    problems.push(`selected_protocol: ${shownValue(selected_protocol)} is not among the candidates ${namesOf(features)}`);
  return problems;
}

function lintMargin(margin: unknown): readonly string[] {
  if (typeof margin !== "number" || !(margin >= 0 && margin <= 1)) return ["margin: must be a number from 0 to 1"];
  return Math.round(margin * 100) / 100 === margin ? [] : ["margin: must be in hundredths"];
}

/** With the `u` flag a whole pair is one character of another class, so this finds lone halves only. */
const HALF_PAIR = /\p{Surrogate}/u;

function lintSpans(spans: unknown, input: readonly string[]): readonly string[] {
  if (!Array.isArray(spans)) return ["evidence_spans: must be a list"];
  if (spans.length > EVIDENCE_SPANS) return [`evidence_spans: has more than ${EVIDENCE_SPANS} entries`];
  return spans.flatMap((span: unknown, index) => {
    const field = `evidence_spans[${index}]`;
    if (!isText(span)) return [`${field}: must be a string, not empty`];
    if (spans.indexOf(span) < index) return [`${field}: ${shown(span)} is there twice`];
    // A span that splits a surrogate pair cannot be written as bytes.
    const verbatim = !HALF_PAIR.test(span) && input.some((text) => text.includes(span));
    return verbatim ? [] : [`${field}: ${shown(span)} does not stand in the module's text, character for character`];
  });
}

function lintExplanation({ rationale, evidence_spans }: JsonObject, { features }: LintContext): readonly string[] {
  if (typeof rationale !== "string") return ["rationale: must be a string"];
  const spans = Array.isArray(evidence_spans) ? evidence_spans.slice(0, EVIDENCE_SPANS).filter(isText) : [];
  return lintRationale(rationale, { spans, features });
}

function lintRejected({ rejected, selected_protocol }: JsonObject, { features }: LintContext): readonly string[] {
  if (!Array.isArray(rejected)) return ["rejected: must be a list"];
  if (rejected.length > features.length) return ["rejected: has more entries than there are candidates"];
  const seen = new Set<unknown>([selected_protocol]);
  return rejected.flatMap((rejection: unknown, index) => {
    const field = `rejected[${index}]`;
    if (!isObject(rejection)) return [`${field}: must be an object`];
    const { protocol, because } = rejection;
    const problems = lintMembers(rejection, ["protocol", "because"]).map((problem) => `${field}: ${problem}`);
    if (!isCandidate(protocol, features)) problems.push(`${field}.protocol: must be one of ${namesOf(features)}`);
    else if (seen.has(protocol)) problems.push(`${field}.protocol: ${shownValue(protocol)} is selected, or there twice`);
    seen.add(protocol);
    if (typeof because !== "string") return [...problems, `${field}.because: must be a string`];
    return [...problems, ...lintReason(`${field}.because`, because)];
  });
}

function lintHash(hash: unknown): readonly string[] {
  if (hash === undefined || (typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash))) return [];
  return ["prompt_sha256: must be a SHA-256 in lower-case hexadecimal"];
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

function isCandidate(name: unknown, features: readonly Features[]): boolean {
  return features.some((row) => row.name === name);
}

function namesOf(features: readonly Features[]): string {
  return features.map(({ name }) => name).join(", ");
}

/** A value that should be a name, shortened for display. */
function shownValue(value: unknown): string {
  return typeof value === "string" ? shown(value) : `a value of type ${typeof value}`;
}
