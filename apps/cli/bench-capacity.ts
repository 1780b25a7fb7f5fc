import {
  type BenchOptions,
  makePlan,
  type OfferedLoad,
  planConditions,
  runBench,
  type Scenario,
} from "../../bench/protocols/index.js";
import { CliError, EXIT } from "./exit.js";

/** An offered load as the user wrote it: per second, or as a share of the capacity. */
export type Rate = { readonly perSecond: number } | { readonly ofCapacity: number };

export function needsCapacity(rates: readonly Rate[]): boolean {
  return rates.some((rate) => "ofCapacity" in rate);
}

/** Runs of the measurement of the capacity; it chooses loads and is no result by itself. */
const RUNS = 2;
const DIGITS = 3;

/**
 * The capacity: what the fastest arm answers per second in a closed loop that keeps every agent busy. All arms are then offered the same
 * loads, so that the highest ones are too much for each of them. Kept in a folder of its own, which can be verified like any other.
 */
export async function measureCapacity(scenario: Scenario, options: BenchOptions): Promise<number> {
  const { plan } = options;
  const capacity = makePlan({
    scenario,
    mode: plan.mode,
    settings: { ...plan.settings, runs: Math.min(plan.settings.runs, RUNS) },
    arms: plan.arms.filter(({ control }) => control === undefined),
    conditions: planConditions({ clients: plan.settings.agents, rates: [], arrivals: "poisson", inFlight: 1, faults: [] }),
  });
  const folder = `${options.folder}-capacity`;
  const { arms, status, marks } = await runBench({ ...options, plan: capacity, folder });
  const found = Math.max(...arms.map(({ metrics }) => metrics.throughputPerS.mean ?? 0));
  if (status !== "complete" || found <= 0)
    throw new CliError(EXIT.failure, `the capacity could not be measured: ${marks.at(-1) ?? "no answers"}`);
  return found;
}

/** The loads in requests per second. */
export function offeredLoads(rates: readonly Rate[], capacityPerS: number): readonly OfferedLoad[] {
  return rates.map((rate) =>
    "perSecond" in rate
      ? rate
      : { perSecond: Number((capacityPerS * rate.ofCapacity).toPrecision(DIGITS)), ofCapacity: rate.ofCapacity },
  );
}
