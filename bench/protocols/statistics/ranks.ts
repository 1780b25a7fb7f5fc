import { Z_95 } from "../../harness/proportions.js";
import type { Range } from "../../harness/result.js";
import { countBelow } from "./bootstrap.js";

/** How often a value of the first arm is above one of the second, minus how often below: −1 to 1. */
export interface CliffsDelta {
  readonly delta: number;
  readonly interval: Range | undefined;
}

/** Cliff's delta with its asymmetric 95 % interval (Cliff 1996). O(n log n): each value is placed in the other sorted list. */
export function cliffsDelta(first: readonly number[], second: readonly number[]): CliffsDelta | undefined {
  if (first.length === 0 || second.length === 0) return undefined;
  const [a, b] = [ascending(first), ascending(second)];
  const ofFirst = dominances(a, b);
  const ofSecond = dominances(b, a);
  const delta = sumOf(ofFirst.map(({ above, below }) => above - below)) / (a.length * b.length);
  const unequal = sumOf(ofFirst.map(({ above, below }) => above + below));
  const share = ({ above, below }: Dominance, of: number) => (above - below) / of;
  const spreadFirst = sumOf(ofFirst.map((each) => (share(each, b.length) - delta) ** 2));
  const spreadSecond = sumOf(ofSecond.map((each) => (share(each, a.length) + delta) ** 2));
  return { delta, interval: deltaInterval(delta, { n: a.length, m: b.length, spreadFirst, spreadSecond, unequal }) };
}

interface Dominance {
  readonly above: number;
  readonly below: number;
}

function dominances(values: Float64Array, others: Float64Array): readonly Dominance[] {
  return Array.from(values, (value) => ({
    above: countBelow(others, value, false),
    below: others.length - countBelow(others, value, true),
  }));
}

interface DeltaParts {
  readonly n: number;
  readonly m: number;
  readonly spreadFirst: number;
  readonly spreadSecond: number;
  readonly unequal: number;
}

function deltaInterval(delta: number, { n, m, spreadFirst, spreadSecond, unequal }: DeltaParts): Range | undefined {
  if (n < 2 || m < 2) return undefined;
  const z2 = Z_95 ** 2;
  const pairs = n * m;
  if (Math.abs(delta) === 1) {
    // No overlap at all has no variance; the bound of Cliff (1993) for this case.
    const fewest = Math.min(n, m);
    const bound = Math.max(-1, (fewest - z2) / (fewest + z2));
    return delta > 0 ? [bound, 1] : [-1, -bound];
  }
  const within = unequal - pairs * delta ** 2;
  const estimate = (m ** 2 * spreadFirst + n ** 2 * spreadSecond - within) / (pairs * (pairs - 1));
  // The unbiased estimate can fall to zero and below; it is held at its least possible value.
  const variance = Math.max(estimate, (1 - delta ** 2) / (pairs - 1));
  const middle = delta - delta ** 3;
  const reach = Z_95 * Math.sqrt(variance) * Math.sqrt((1 - delta ** 2) ** 2 + z2 * variance);
  const scale = 1 - delta ** 2 + z2 * variance;
  return [Math.max(-1, (middle - reach) / scale), Math.min(1, (middle + reach) / scale)];
}

/** The labels of Romano et al. (2006). */
export function deltaLabel(delta: number): "negligible" | "small" | "medium" | "large" {
  const size = Math.abs(delta);
  if (size < 0.147) return "negligible";
  return size < 0.33 ? "small" : size < 0.474 ? "medium" : "large";
}

/** The median of all differences between a value of the first arm and one of the second. */
export interface Shift {
  readonly shift: number;
  /** From the ordered differences; undefined where the runs are too few for 95 %. */
  readonly interval: Range | undefined;
}

/** The Hodges–Lehmann shift, first minus second. The differences are counted, never listed: O((n + m) log range). */
export function hodgesLehmann(first: readonly number[], second: readonly number[]): Shift | undefined {
  if (first.length === 0 || second.length === 0) return undefined;
  const [a, b] = [ascending(first), ascending(second)];
  const pairs = a.length * b.length;
  const at = (rank: number) => differenceAt(a, b, rank);
  const shift = (at(Math.ceil(pairs / 2)) + at(Math.floor(pairs / 2) + 1)) / 2;
  const outside = ranksOutside(a.length, b.length);
  return { shift, interval: outside === 0 ? undefined : [at(outside), at(pairs + 1 - outside)] };
}

/** Halving a range of doubles ends after at most this many steps. */
const MAX_HALVINGS = 2_100;

/** The difference of this rank, counted from 1: by halving the range until it holds exactly the wanted value. */
function differenceAt(a: Float64Array, b: Float64Array, rank: number): number {
  const least = (a[0] ?? Number.NaN) - (b.at(-1) ?? Number.NaN);
  if (countAtMost(a, b, least) >= rank) return least;
  let low = least;
  let high = (a.at(-1) ?? Number.NaN) - (b[0] ?? Number.NaN);
  for (let step = 0; step < MAX_HALVINGS; step++) {
    const middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    if (countAtMost(a, b, middle) >= rank) high = middle;
    else low = middle;
  }
  return high;
}

/** How many differences are at most this: one walk along both sorted lists. */
function countAtMost(a: Float64Array, b: Float64Array, bound: number): number {
  let count = 0;
  let above = 0;
  // The larger the value, the larger the other must be: the position in b only moves on.
  for (const value of a) {
    while (above < b.length && value - (b[above] ?? Number.NaN) > bound) above++;
    count += b.length - above;
  }
  return count;
}

/** Up to this many runs on each side the exact distribution is used; above it the normal one. */
export const MAX_EXACT_RANKS = 50;

/** The rank of the difference at the end of the 95 % interval: the largest that the null distribution leaves at most 2.5 % below. */
function ranksOutside(n: number, m: number): number {
  if (n > MAX_EXACT_RANKS || m > MAX_EXACT_RANKS) {
    const middle = (n * m) / 2;
    return Math.max(0, Math.floor(middle - Z_95 * Math.sqrt((n * m * (n + m + 1)) / 12)));
  }
  const counts = rankSumCounts(n, m);
  const total = sumOf(counts);
  let [rank, below] = [0, 0];
  while (rank < counts.length) {
    below += counts[rank] ?? 0;
    if (below / total > 0.025) return rank;
    rank++;
  }
  return rank;
}

/** The number of orders of n and m values by their Mann–Whitney statistic: the coefficients of the Gaussian binomial. */
function rankSumCounts(n: number, m: number): Float64Array {
  const counts = new Float64Array(n * m + 1);
  counts[0] = 1;
  for (let factor = 1; factor <= n; factor++) {
    for (let at = counts.length - 1; at >= factor + m; at--) counts[at] = (counts[at] ?? 0) - (counts[at - factor - m] ?? 0);
    for (let at = factor; at < counts.length; at++) counts[at] = (counts[at] ?? 0) + (counts[at - factor] ?? 0);
  }
  return counts;
}

function ascending(values: readonly number[]): Float64Array {
  return Float64Array.from(values).sort();
}

function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index] ?? 0;
  return sum;
}
