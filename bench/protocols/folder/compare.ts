import type { BenchResult } from "../result/index.js";
import { isMetric, type Metric } from "../result/result.js";
import { comparePairs, holm, type PairComparison } from "../statistics/index.js";
import { FolderError } from "./folder.js";

/** One arm in two results: the second minus the first. Holm's correction is over all changes. */
export interface ArmChange extends Pick<PairComparison, "shift" | "interval" | "p" | "adjustedP" | "equivalenceP"> {
  readonly arm: string;
  readonly condition: string;
  readonly metric: Metric;
  readonly before: number | null;
  readonly after: number | null;
  readonly runs: number;
}

export interface ResultComparison {
  readonly changes: readonly ArmChange[];
  /** Settings that differ, and arms that only one of them has. */
  readonly notes: readonly string[];
}

/** Compares the arms that two results share. Only results of one machine are comparable, which it cannot know. */
export function compareResults(before: BenchResult, after: BenchResult): ResultComparison {
  if (before.plan.scenario !== after.plan.scenario)
    throw new FolderError(`${before.plan.scenario} and ${after.plan.scenario} are different scenarios`);
  const { primary, marginUs } = after.plan;
  const metrics = [...new Set<Metric>([...(isMetric(primary) ? [primary] : []), "p50Us", "p95Us", "throughputPerS"])];
  const found = after.arms.flatMap((arm) => {
    const old = before.arms.find((each) => each.arm === arm.arm && each.condition === arm.condition);
    if (old === undefined) return [];
    return metrics.map((metric): ArmChange => {
      const pair = { arm: "after", values: arm.metrics[metric].values };
      const [compared] = comparePairs([pair, { arm: "before", values: old.metrics[metric].values }], marginUs);
      return {
        arm: arm.arm,
        condition: arm.condition,
        metric,
        before: old.metrics[metric].mean,
        after: arm.metrics[metric].mean,
        runs: compared?.runs ?? 0,
        shift: compared?.shift,
        interval: compared?.interval,
        p: compared?.p,
        adjustedP: undefined,
        // The margin is one of times.
        equivalenceP: metric.endsWith("Us") ? compared?.equivalenceP : undefined,
      };
    });
  });
  const corrected = holm(found.flatMap(({ p }) => p ?? []))[Symbol.iterator]();
  const changes = found.map((change) => (change.p === undefined ? change : { ...change, adjustedP: corrected.next().value }));
  return { changes, notes: [...settingNotes(before, after), ...armNotes(before, after)] };
}

function settingNotes(before: BenchResult, after: BenchResult): readonly string[] {
  const [old, now] = [before.plan.settings, after.plan.settings];
  return Object.entries(now).flatMap(([name, value]) => {
    const was: unknown = Object.entries(old).find(([key]) => key === name)?.[1];
    return JSON.stringify(was) === JSON.stringify(value)
      ? []
      : [`${name}: ${JSON.stringify(was)} before, ${JSON.stringify(value)} after`];
  });
}

function armNotes(before: BenchResult, after: BenchResult): readonly string[] {
  const ids = ({ plan }: BenchResult) => new Set(plan.arms.map(({ id }) => id));
  const [old, now] = [ids(before), ids(after)];
  return [
    ...[...old].filter((id) => !now.has(id)).map((id) => `${id} is only in the first result`),
    ...[...now].filter((id) => !old.has(id)).map((id) => `${id} is only in the second result`),
  ];
}
