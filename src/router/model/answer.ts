import { lintDecision } from "../lint/decision.js";
import { shown } from "../lint/rationale.js";
import type { ModelAnswer } from "../models/index.js";
import type { OpenQuestion, Opinion } from "../second-opinion.js";
import { SELECTION } from "./prompt.js";

/** A checked model answer: usable, or rejected with reasons for the model. */
export type CheckedAnswer =
  | { readonly kind: "usable"; readonly opinion: Omit<Opinion, "prompt_sha256"> }
  | { readonly kind: "refused"; readonly problems: readonly string[] };

const PARAMETERS = ["module_id", "selected_protocol", "evidence_spans", "rationale"];
/** The number of unknown arguments listed by name. */
const MAX_UNKNOWN_ARGUMENTS = 8;

/** Nothing is repaired: a span with other white space, or a protocol in another spelling, is rejected. */
export function checkAnswer({ calls }: ModelAnswer, question: OpenQuestion): CheckedAnswer {
  const [call, ...more] = calls;
  if (call === undefined) return refused(`call the function ${SELECTION}; words beside it are not read`);
  if (more.length > 0) return refused(`call ${SELECTION} once, not ${calls.length} times`);
  if (call.name !== SELECTION) return refused(`the function to call is ${SELECTION}, not ${shown(call.name)}`);
  const { scenario, module, input, feasible } = question;
  const { module_id, selected_protocol, evidence_spans, rationale } = call.arguments;
  const answer = { selected_protocol, evidence_spans, rationale };
  // Checked against the feasible candidates, whatever the model says.
  const decision = { scenario_id: scenario.id, module_id: module.id, ...answer, margin: 0, abstained: false, rejected: [] };
  const problems = [
    ...Object.keys(call.arguments)
      .filter((name) => !PARAMETERS.includes(name))
      .slice(0, MAX_UNKNOWN_ARGUMENTS)
      .map((name) => `${shown(name)} is not a parameter of ${SELECTION}`),
    ...(module_id === module.id ? [] : ["module_id: must be that of the data"]),
    ...lintDecision(decision, { input, features: feasible }),
    ...(isEmptyList(evidence_spans) && hasWords(input) ? ["evidence_spans: is empty; a choice needs evidence"] : []),
  ];
  if (problems.length > 0) return { kind: "refused", problems };
  return {
    kind: "usable",
    // The linter found two strings and a list of strings.
    opinion: {
      protocol: selected_protocol as string,
      evidence_spans: evidence_spans as readonly string[],
      rationale: rationale as string,
    },
  };
}

function refused(problem: string): CheckedAnswer {
  return { kind: "refused", problems: [problem] };
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** A module may be described by fields alone, with nothing to quote. */
const hasWords = (input: readonly string[]): boolean => input.some((text) => text.trim() !== "");
