import { comparePairs } from "../statistics/index.js";
import type { Plan } from "./plan.js";
import { type ArmSummary, type Comparison, isMetric, type Metric } from "./result.js";

/** Compared beside the primary metric of the scenario. */
const ALWAYS: readonly Metric[] = ["meanUs", "p95Us"];

/** All pairs of arms under each condition. Controls are compared with their own arm only, and not here. */
export function compareArms(
  { arms, conditions, primary, marginUs }: Plan,
  summaries: readonly ArmSummary[],
): readonly Comparison[] {
  if (!isMetric(primary)) throw new Error(`the plan names the unknown metric ${primary}`);
  const measured = new Set(arms.filter(({ control }) => control === undefined).map(({ id }) => id));
  const metrics = [...new Set<Metric>([primary, ...ALWAYS])];
  return conditions.flatMap(({ id: condition }) =>
    metrics.flatMap((metric) => {
      const values = summaries
        .filter((each) => each.condition === condition && measured.has(each.arm))
        .map(({ arm, metrics: own }) => ({ arm, values: own[metric].values }));
      return comparePairs(values, marginUs).map(({ a, b, runs, interval, ...rest }) => ({
        condition,
        metric,
        a,
        b,
        runs,
        shift: rest.shift ?? null,
        low: interval?.[0] ?? null,
        high: interval?.[1] ?? null,
        p: rest.p ?? null,
        adjustedP: rest.adjustedP ?? null,
        cliffsDelta: rest.cliffsDelta ?? null,
        cohensD: rest.cohensD ?? null,
        equivalenceP: rest.equivalenceP ?? null,
        detectable: rest.detectable ?? null,
      }));
    }),
  );
}
