import { median } from "../../harness/statistics.js";
import { mean, standardDeviation } from "./means.js";
import type { Plan } from "./plan.js";
import { type ArmSummary, type Estimate, METRICS, type RunSummary, SEGMENTS } from "./result.js";

/** The runs of each arm under each condition, put together. The run is the unit: requests of different runs are never pooled. */
export function summariseArms({ arms, conditions }: Plan, runs: readonly RunSummary[]): readonly ArmSummary[] {
  return conditions.flatMap((condition) =>
    arms.map((arm) =>
      summariseArm(
        arm.id,
        condition.id,
        runs.filter((run) => run.arm === arm.id && run.condition === condition.id),
      ),
    ),
  );
}

function summariseArm(arm: string, condition: string, runs: readonly RunSummary[]): ArmSummary {
  const valid = runs.filter(isValid);
  const metrics = METRICS.map((metric) => [metric, estimateOf(present(valid.map((run) => run.metrics[metric])))]);
  const segments = SEGMENTS.map((segment) => [segment, mean(present(valid.map((run) => run.segmentsUs[segment])))]);
  const bytes = (part: keyof RunSummary["bytes"]) => mean(present(valid.map((run) => run.bytes[part])));
  const sum = (count: "answered" | "sent") => valid.reduce((total, run) => total + run.requests[count], 0);
  return {
    arm,
    condition,
    runs: runs.length,
    validRuns: valid.length,
    metrics: Object.fromEntries(metrics) as ArmSummary["metrics"], // one entry per metric
    segmentsUs: Object.fromEntries(segments) as ArmSummary["segmentsUs"], // one entry per segment
    bytes: { payload: bytes("payload"), envelope: bytes("envelope"), transport: bytes("transport") },
    success: { answered: sum("answered"), sent: sum("sent"), low: null, high: null },
  };
}

/** A run whose numbers may be used. */
export function isValid({ status, invalid }: RunSummary): boolean {
  return status === "complete" && invalid.length === 0;
}

function estimateOf(values: number[]): Estimate {
  const average = mean(values);
  const sd = standardDeviation(values);
  return {
    values,
    mean: average,
    median: values.length === 0 ? null : median(values),
    low: null,
    high: null,
    cv: sd === null || average === null || average === 0 ? null : sd / average,
  };
}

function present(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}
