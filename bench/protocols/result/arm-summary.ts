import { wilson } from "../../harness/proportions.js";
import { median } from "../../harness/statistics.js";
import { bcaInterval } from "../statistics/index.js";
import { mean, standardDeviation } from "./means.js";
import type { Plan } from "./plan.js";
import { protectionOf } from "./protection.js";
import { type ArmSummary, type Estimate, METRICS, type RunSummary, SEGMENTS } from "./result.js";
import type { RunEvents } from "./run-events.js";

/** The runs of each arm under each condition, put together. The run is the unit: requests of different runs are never pooled. */
export function summariseArms(
  { arms, conditions, settings }: Plan,
  runs: readonly RunSummary[],
  events: readonly RunEvents[],
): readonly ArmSummary[] {
  return conditions.flatMap((condition) =>
    arms.map((arm) => {
      const own = runs.filter((run) => run.arm === arm.id && run.condition === condition.id);
      const seen = events.filter(({ planned }) => planned.arm === arm.id && planned.condition === condition.id);
      const protection = protectionOf(seen);
      return summariseArm({ arm: arm.id, condition: condition.id, protection, seed: settings.seed }, own);
    }),
  );
}

function summariseArm(
  { arm, condition, protection, seed }: Pick<ArmSummary, "arm" | "condition" | "protection"> & { readonly seed: number },
  runs: readonly RunSummary[],
): ArmSummary {
  const valid = runs.filter(isValid);
  const metrics = METRICS.map((metric) => [metric, estimateOf(present(valid.map((run) => run.metrics[metric])), seed)]);
  const segments = SEGMENTS.map((segment) => [segment, mean(present(valid.map((run) => run.segmentsUs[segment])))]);
  const bytes = (part: keyof RunSummary["bytes"]) => mean(present(valid.map((run) => run.bytes[part])));
  const sum = (count: "answered" | "sent") => valid.reduce((total, run) => total + run.requests[count], 0);
  const [answered, sent] = [sum("answered"), sum("sent")];
  const [low, high] = wilson(answered, sent) ?? [null, null];
  return {
    arm,
    condition,
    protection,
    runs: runs.length,
    validRuns: valid.length,
    metrics: Object.fromEntries(metrics) as ArmSummary["metrics"], // one entry per metric
    segmentsUs: Object.fromEntries(segments) as ArmSummary["segmentsUs"], // one entry per segment
    bytes: { payload: bytes("payload"), envelope: bytes("envelope"), transport: bytes("transport") },
    success: { answered, sent, low, high },
  };
}

/** A run whose numbers may be used. */
export function isValid({ status, invalid }: RunSummary): boolean {
  return status === "complete" && invalid.length === 0;
}

function estimateOf(values: number[], seed: number): Estimate {
  const average = mean(values);
  const sd = standardDeviation(values);
  const [low, high] = bcaInterval(values, { seed }) ?? [null, null];
  return {
    values,
    mean: average,
    median: values.length === 0 ? null : median(values),
    low,
    high,
    cv: sd === null || average === null || average === 0 ? null : sd / average,
  };
}

function present(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}
