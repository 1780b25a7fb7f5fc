import type { Case, Exclusion } from "./case.js";
import type { Entry, Run } from "./entry.js";
import { groupBy, isRight, type Outcome } from "./outcome.js";

/** A module with a wrong answer, and the reasons given for it. */
export interface Wrong {
  readonly file: string;
  readonly scenario_id: string;
  readonly module_id: string;
  readonly label: string;
  readonly chosen: string | null;
  readonly margin: number;
  readonly evidence_spans: readonly string[];
  readonly rationale: string;
}

export interface Scored {
  readonly outcomes: readonly Outcome[];
  readonly excluded: readonly Exclusion[];
  readonly wrong: readonly Wrong[];
}

/** A scenario with a malformed or missing record is excluded; nothing is imputed. */
export function scoreRun({ plan, entries }: Run): Scored {
  const outcomes: Outcome[] = [];
  const excluded: Exclusion[] = [];
  const wrong: Wrong[] = [];
  for (const [of, members] of groupBy(entries, (entry) => entry.of)) {
    const because = reasonAgainst(members);
    if (because !== undefined) excluded.push({ file: of.file, scenario_id: of.scenario.id, because });
    else
      for (const entry of members) {
        const outcome = outcomeOf(entry, plan.mode !== "model");
        outcomes.push(outcome);
        if (!isRight(outcome)) wrong.push(...wrongOf(entry, of));
      }
  }
  return { outcomes, excluded, wrong };
}

function reasonAgainst(entries: readonly Entry[]): string | undefined {
  for (const { answer } of entries) if (answer.kind === "none") return answer.because;
  return undefined;
}

/** A model has no margin; the record has one only because its format requires it. */
function outcomeOf({ of, module, answer }: Entry, hasMargin: boolean): Outcome {
  const decision = answer.kind === "decision" ? answer.decision : undefined;
  return {
    file: of.file,
    scenario_id: of.scenario.id,
    level: of.scenario.level ?? null,
    module_id: module.id,
    label: module.label,
    chosen: decision?.selected_protocol ?? null,
    margin: hasMargin ? (decision?.margin ?? null) : null,
  };
}

function wrongOf({ module, answer }: Entry, { file, scenario }: Case): readonly Wrong[] {
  if (answer.kind === "none") return [];
  const { selected_protocol, margin, evidence_spans, rationale } = answer.decision;
  const { id: module_id, label } = module;
  return [{ file, scenario_id: scenario.id, module_id, label, chosen: selected_protocol, margin, evidence_spans, rationale }];
}
