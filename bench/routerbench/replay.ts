import type { OpinionAnswer, SecondOpinion } from "./router.js";

/** The answers of a model in an earlier run, read from its decisions. A model may answer differently later; these are fixed. */
export function replayOf(decisions: string): SecondOpinion {
  const recorded = new Map<string, OpinionAnswer[]>();
  for (const line of decisions.split("\n")) {
    const read = readLine(line);
    if (read === undefined) continue;
    const before = recorded.get(read.key);
    if (before === undefined) recorded.set(read.key, [read.answer]);
    else before.push(read.answer);
  }
  return {
    // The same ids may occur in another file; questions are asked in the order the answers were written.
    about: async ({ scenario, module }) =>
      recorded.get(keyOf(scenario.id, module.id))?.shift() ?? { kind: "none", because: "no answer of the model was recorded" },
  };
}

function keyOf(scenario: string, module: string): string {
  return JSON.stringify([scenario, module]);
}

function readLine(line: string): { readonly key: string; readonly answer: OpinionAnswer } | undefined {
  // Every member is looked at before it is used.
  const { run, decision, scenario_id, module_id, because } = (parse(line) ?? {}) as { readonly [key: string]: unknown };
  if (run !== "model") return undefined;
  if (typeof because === "string")
    return { key: keyOf(String(scenario_id), String(module_id)), answer: { kind: "none", because } };
  if (typeof decision !== "object" || decision === null) return undefined;
  const record = decision as { readonly [key: string]: unknown };
  if (typeof record["selected_protocol"] !== "string") return undefined;
  const opinion = {
    protocol: record["selected_protocol"],
    evidence_spans: Array.isArray(record["evidence_spans"]) ? record["evidence_spans"].map(String) : [],
    rationale: String(record["rationale"]),
    prompt_sha256: String(record["prompt_sha256"]),
  };
  return { key: keyOf(String(record["scenario_id"]), String(record["module_id"])), answer: { kind: "opinion", opinion } };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
