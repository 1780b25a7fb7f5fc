import { summariseDocqa } from "../docqa/result/summarise-docqa.js";
import { isValid, summariseArms } from "./arm-summary.js";
import { checksOf } from "./checks.js";
import { compareArms } from "./compare-arms.js";
import { controlsOf } from "./controls.js";
import type { BenchEvent } from "./event.js";
import { SCHEMA_VERSION } from "./plan.js";
import type { BenchResult, RunSummary } from "./result.js";
import { type Measured, measuredIn } from "./run-events.js";
import { summariseRun } from "./run-summary.js";

/** The result of a benchmark, from its events alone. Pure: the same events give the same result, on any machine. */
export function summarise(events: Iterable<BenchEvent>): BenchResult {
  const measured = measuredIn(events);
  const { plan } = measured;
  const runs = measured.runs.map((run) => summariseRun(run, plan));
  const checks = checksOf(plan, measured.runs, runs);
  const arms = summariseArms(plan, runs, measured.runs);
  const controls = controlsOf(plan, measured.runs);
  const docqa = summariseDocqa(plan, measured.runs);
  const failed = [...Object.values(checks), ...controls].filter(({ passed }) => !passed);
  const partial = plan.runs.length > runs.filter(({ status }) => status === "complete").length;
  return {
    schema: SCHEMA_VERSION,
    kind: "koine-protocol-bench",
    status: partial ? "partial" : failed.length > 0 ? "invalid" : "complete",
    marks: [...marksOf(measured, runs), ...failed.map(({ statement }) => statement)],
    plan,
    checks,
    controls: [...controls],
    runs,
    arms: [...arms],
    comparisons: [...compareArms(plan, arms)],
    ...(docqa === undefined ? {} : { docqa }),
  };
}

function marksOf({ plan, resumed }: Measured, runs: readonly RunSummary[]): readonly string[] {
  const identified = plan.arms.filter(({ identities, control }) => identities === true && control === undefined);
  const valid = runs.filter(isValid).length;
  return [
    ...(plan.mode === "quick" ? ["Quick run: few and short runs. The numbers show that it works, not how fast it is."] : []),
    ...(valid < plan.runs.length ? [`Partial: ${valid} of ${plan.runs.length} runs are complete and valid.`] : []),
    ...(resumed > 0 ? [`Resumed ${resumed} times: the runs were not measured in one go.`] : []),
    ...(plan.sharedProcesses ? ["More than 32 agents: several of them share a process."] : []),
    ...(identified.length > 0 && identified.length < plan.arms.length
      ? [`Callers prove who they are only in ${identified.map(({ id }) => id).join(", ")}, which do more work for it.`]
      : []),
  ];
}
