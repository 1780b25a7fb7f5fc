import { chance } from "../../harness/chance.js";
import type { Range } from "../../harness/result.js";
import { normalCdf, normalQuantile } from "./distributions.js";
import { momentsOf } from "./moments.js";

/** The number of resamples of every published interval. */
export const RESAMPLES = 10_000;
/** Runs, not requests. The jackknife computes the statistic once per value, so its cost grows with the square of this. */
export const MAX_BOOTSTRAP_VALUES = 2_000;
/** Below this there are too few different resamples for an interval to mean anything. */
export const MIN_BOOTSTRAP_VALUES = 5;

export type Statistic = (values: readonly number[]) => number;

export interface BootstrapOptions {
  readonly seed: number;
  readonly statistic?: Statistic;
  readonly resamples?: number;
  readonly confidence?: number;
}

const meanStatistic: Statistic = (values) => momentsOf(values).mean;

/**
 * The bias-corrected and accelerated bootstrap interval (Efron 1987) of a statistic of runs, by default the mean. The same values and
 * seed give the same interval. Undefined with too few values.
 */
export function bcaInterval(values: readonly number[], options: BootstrapOptions): Range | undefined {
  const { seed, statistic = meanStatistic, resamples = RESAMPLES, confidence = 0.95 } = options;
  if (values.length > MAX_BOOTSTRAP_VALUES)
    throw new RangeError(`${values.length} values: the bootstrap takes runs, at most ${MAX_BOOTSTRAP_VALUES}`);
  if (values.length < MIN_BOOTSTRAP_VALUES) return undefined;
  const replicates = replicatesOf(values, statistic, resamples, chance(seed));
  return bcaFrom(replicates, statistic(values), accelerationOf(values, statistic), confidence);
}

/** The interval of sorted replicates. Where all are equal, so is the interval. */
export function bcaFrom(sorted: Float64Array, estimate: number, acceleration: number, confidence: number): Range | undefined {
  const below = normalQuantile(shareBelow(sorted, estimate));
  // All replicates on one side of the estimate: there is no correction that puts it inside.
  if (!Number.isFinite(below) || Math.abs(below) >= UNREACHABLE)
    return sorted[0] === sorted.at(-1) ? [estimate, estimate] : undefined;
  const tail = (1 - confidence) / 2;
  const shareFor = (p: number): number => {
    const z = below + normalQuantile(p);
    return normalCdf(below + z / (1 - acceleration * z));
  };
  return [quantile(sorted, shareFor(tail)), quantile(sorted, shareFor(1 - tail))];
}

/** A normal quantile that no count of resamples can have. */
const UNREACHABLE = 30;

/** The statistic of each resample, sorted. One list is filled again and again. */
function replicatesOf(values: readonly number[], statistic: Statistic, count: number, random: () => number): Float64Array {
  const sample = [...values];
  const replicates = new Float64Array(count);
  for (let replicate = 0; replicate < count; replicate++) {
    for (let index = 0; index < sample.length; index++)
      sample[index] = values[Math.floor(random() * values.length)] ?? Number.NaN;
    replicates[replicate] = statistic(sample);
  }
  return replicates.sort();
}

/** The share of replicates below the estimate; those equal to it count half. */
function shareBelow(sorted: Float64Array, estimate: number): number {
  return (countBelow(sorted, estimate, false) + countBelow(sorted, estimate, true)) / (2 * sorted.length);
}

/** How many values are less than a bound, or also equal to it. */
export function countBelow(sorted: ArrayLike<number>, bound: number, orEqual: boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const value = sorted[middle] ?? Number.NaN;
    if (orEqual ? value <= bound : value < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** From the jackknife: how much the spread of the statistic changes with its value. */
function accelerationOf(values: readonly number[], statistic: Statistic): number {
  const without = [...values.slice(1)];
  const left: number[] = [];
  for (let index = 0; index < values.length; index++) {
    left.push(statistic(without));
    // The next list lacks the next value instead of this one.
    if (index < without.length) without[index] = values[index] ?? Number.NaN;
  }
  const { mean } = momentsOf(left);
  let [squares, cubes] = [0, 0];
  for (const value of left) {
    squares += (mean - value) ** 2;
    cubes += (mean - value) ** 3;
  }
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
}

/** The quantile between the two nearest values, linearly (type 7, the default of NumPy and R). */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
