import type { Range } from "../../harness/result.js";
import { invert, MAX_NONCENTRALITY, noncentralTCdf, tQuantile, tUpper } from "./distributions.js";
import { momentsOf } from "./moments.js";

/** The difference of the means of two arms, without assuming equal variances. */
export interface WelchTest {
  readonly difference: number;
  readonly error: number;
  readonly freedom: number;
  readonly p: number;
  readonly interval: Range;
}

interface MeanDifference {
  readonly difference: number;
  readonly error: number;
  readonly freedom: number;
}

/** First minus second. Undefined below two runs on either side, or where neither side varies. */
function meanDifference(first: readonly number[], second: readonly number[]): MeanDifference | undefined {
  if (first.length < 2 || second.length < 2) return undefined;
  const [a, b] = [momentsOf(first), momentsOf(second)];
  const [partA, partB] = [a.variance / a.count, b.variance / b.count];
  const square = partA + partB;
  if (square === 0) return undefined;
  const freedom = square ** 2 / (partA ** 2 / (a.count - 1) + partB ** 2 / (b.count - 1));
  return { difference: a.mean - b.mean, error: Math.sqrt(square), freedom };
}

/** Welch's t-test, two-sided. */
export function welch(first: readonly number[], second: readonly number[], confidence = 0.95): WelchTest | undefined {
  const found = meanDifference(first, second);
  if (found === undefined) return undefined;
  const { difference, error, freedom } = found;
  const reach = tQuantile((1 + confidence) / 2, freedom) * error;
  return {
    ...found,
    p: Math.min(1, 2 * tUpper(Math.abs(difference / error), freedom)),
    interval: [difference - reach, difference + reach],
  };
}

/** Two one-sided tests: the p value of "the difference of the means lies outside ±margin". A small one says that they are equal. */
export function equivalence(first: readonly number[], second: readonly number[], margin: number): number | undefined {
  const found = meanDifference(first, second);
  if (found === undefined) return undefined;
  const { difference, error, freedom } = found;
  return Math.max(tUpper((difference + margin) / error, freedom), tUpper((margin - difference) / error, freedom));
}

/** Holm's correction: the chance that any of these tests is wrong stays at the level of one. In the order given. */
export function holm(values: readonly number[]): readonly number[] {
  const order = values.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(values.length);
  let highest = 0;
  for (const [rank, { p, index }] of order.entries()) {
    highest = Math.max(highest, Math.min(1, p * (values.length - rank)));
    adjusted[index] = highest;
  }
  return adjusted;
}

/** Cohen's d: the difference of the means in pooled standard deviations. Undefined where neither side varies. */
export function cohensD(first: readonly number[], second: readonly number[]): number | undefined {
  if (first.length < 2 || second.length < 2) return undefined;
  const [a, b] = [momentsOf(first), momentsOf(second)];
  const pooled = ((a.count - 1) * a.variance + (b.count - 1) * b.variance) / (a.count + b.count - 2);
  return pooled === 0 ? undefined : (a.mean - b.mean) / Math.sqrt(pooled);
}

export interface PowerOptions {
  readonly alpha?: number;
  readonly power?: number;
}

/**
 * The smallest difference of means that Welch's test would detect with this power, given the spread that was measured. Undefined where
 * there are too few runs to detect anything.
 */
export function minimumDetectable(
  first: readonly number[],
  second: readonly number[],
  { alpha = 0.05, power = 0.8 }: PowerOptions = {},
): number | undefined {
  const found = meanDifference(first, second);
  if (found === undefined) return undefined;
  const critical = tQuantile(1 - alpha / 2, found.freedom);
  const powerAt = (shift: number): number =>
    1 - noncentralTCdf(critical, found.freedom, shift) + noncentralTCdf(-critical, found.freedom, shift);
  // The further from zero, the more terms the distribution has: the end of the range is looked for from below.
  let end = critical + 1;
  while (end < MAX_NONCENTRALITY && powerAt(end) < power) end *= 1.5;
  return end >= MAX_NONCENTRALITY ? undefined : invert(powerAt, power, [0, end]) * found.error;
}
