import type { Arm, ArmSummary, BenchResult, Comparison, Condition, Metric, RunSummary } from "../result/index.js";
import { METRICS, QUANTILES } from "../result/index.js";
import { type ArmStyle, armStyle } from "./draw.js";

/** One arm under one condition, as charts and tables need it. */
export interface ArmView {
  readonly arm: Arm;
  readonly style: ArmStyle;
  readonly summary: ArmSummary;
  readonly runs: readonly RunSummary[];
}

/** A condition with the arms that were measured under it; controls are apart. */
export interface ConditionView {
  readonly condition: Condition;
  readonly primary: Metric;
  readonly arms: readonly ArmView[];
  readonly comparisons: readonly Comparison[];
}

/** The metric that decides. A name that is no metric comes from another version of the benchmark. */
export function primaryOf({ plan }: BenchResult): Metric {
  const found = METRICS.find((metric) => metric === plan.primary);
  if (found === undefined) throw new Error(`the result decides by ${plan.primary}, which is no metric of this version`);
  return found;
}

export function conditionViews(result: BenchResult): readonly ConditionView[] {
  const subjects = result.plan.arms.filter(({ control }) => control === undefined);
  const primary = primaryOf(result);
  return result.plan.conditions.map((condition) => ({
    condition,
    primary,
    comparisons: result.comparisons.filter((each) => each.condition === condition.id),
    arms: subjects.flatMap((arm, index): readonly ArmView[] => {
      const summary = result.arms.find((each) => each.arm === arm.id && each.condition === condition.id);
      if (summary === undefined) return [];
      const runs = result.runs.filter((run) => run.arm === arm.id && run.condition === condition.id && isUsable(run));
      return [{ arm, style: armStyle(index), summary, runs }];
    }),
  }));
}

function isUsable({ status, invalid, distribution }: RunSummary): boolean {
  return status === "complete" && invalid.length === 0 && distribution.length === QUANTILES.length;
}

/** A point of the latency distribution of an arm: the mean over its runs, and the least and largest of them. */
export interface QuantilePoint {
  readonly arm: string;
  readonly share: number;
  readonly us: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The distribution of an arm. A run is the unit: quantiles are taken per run and averaged. Shares that the requests of a run cannot show
 * (P99.9 of 200 requests) are left out.
 */
export function distributionOf({ arm, runs }: ArmView): readonly QuantilePoint[] {
  const fewest = Math.min(...runs.map(({ requests }) => requests.sent));
  if (runs.length === 0) return [];
  return QUANTILES.flatMap((share, index): readonly QuantilePoint[] => {
    if (share < 1 && share > 1 - 1 / fewest) return [];
    const values = runs.flatMap(({ distribution }) => distribution[index] ?? []);
    const us = values.reduce((sum, value) => sum + value, 0) / values.length;
    return [{ arm: arm.id, share, us, low: Math.min(...values), high: Math.max(...values) }];
  });
}

/** What was offered, in words. */
export function loadOf({ load }: Condition): string {
  return load.loop === "closed"
    ? `closed loop, ${load.clients} ${load.clients === 1 ? "client" : "clients"}`
    : `open loop, ${load.perSecond} per second (${load.arrivals}), at most ${load.inFlight} in flight`;
}

/** A condition in words: its name, its load, its faults. */
export function conditionTitle(condition: Condition): string {
  const { id, faults } = condition;
  return `${id}: ${loadOf(condition)}${faults.length === 0 ? "" : `, ${faults.length} faults`}`;
}
