import type { Range } from "./result.js";

/** Nearest-rank percentile of an ascending list; `share` is between 0 and 1. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new RangeError("percentile of no samples");
  return value;
}

/** The middle sample, or the mean of the two middle ones. */
export function median(samples: readonly number[]): number {
  const sorted = ascending(samples);
  const low = sorted[Math.ceil(sorted.length / 2) - 1];
  const high = sorted[Math.floor(sorted.length / 2)];
  if (low === undefined || high === undefined) throw new RangeError("median of no samples");
  return (low + high) / 2;
}

/** 10th and 90th percentile: the spread of rounds without outliers. */
export function spread(samples: readonly number[]): Range {
  const sorted = ascending(samples);
  return [percentile(sorted, 0.1), percentile(sorted, 0.9)];
}

/** Standard deviation over mean, of the whole population. */
export function variation(samples: ArrayLike<number>): number {
  const count = samples.length;
  if (count === 0) throw new RangeError("variation of no samples");
  let sum = 0;
  for (let index = 0; index < count; index++) sum += samples[index] ?? 0;
  const mean = sum / count;
  let squares = 0;
  for (let index = 0; index < count; index++) squares += ((samples[index] ?? 0) - mean) ** 2;
  return mean === 0 ? 0 : Math.sqrt(squares / count) / mean;
}

/** Arm over floor, round by round. Rounds are pairs: a list of another length is a mistake of the caller. */
export function pairedRatios(arm: readonly number[], floor: readonly number[]): readonly number[] {
  if (arm.length !== floor.length) throw new RangeError(`${arm.length} rounds of the arm, ${floor.length} of the floor`);
  return arm.map((value, round) => value / (floor[round] ?? Number.NaN));
}

/**
 * 95 % confidence interval of the median by order statistics: the ranks at which a fair coin would be beaten on either
 * side with at most 2.5 %. Undefined below six samples, where no pair of ranks reaches 95 %.
 */
export function medianInterval(samples: readonly number[]): Range | undefined {
  const count = samples.length;
  const below = samplesBelow(count);
  if (below === 0) return undefined;
  const sorted = ascending(samples);
  const low = sorted[below - 1];
  const high = sorted[count - below];
  return low === undefined || high === undefined ? undefined : [low, high];
}

/** Above it the binomial distribution is as good as normal, and below it 0.5 ** count is not yet zero. */
const MANY = 1_000;
const Z_975 = 1.959964;

function samplesBelow(count: number): number {
  if (count > MANY) return Math.floor((count - Z_975 * Math.sqrt(count)) / 2);
  let below = 0;
  let tail = 0.5 ** count;
  let term = tail;
  while (tail <= 0.025 && below < count) {
    below++;
    term = (term * (count - below + 1)) / below;
    tail += term;
  }
  return below;
}

function ascending(samples: readonly number[]): number[] {
  return [...samples].sort((a, b) => a - b);
}
