import type { Range } from "../../harness/result.js";
import { cliffsDelta, hodgesLehmann } from "./ranks.js";
import { cohensD, equivalence, holm, minimumDetectable, welch } from "./welch.js";

/** One metric of an arm: a value per run. The run is the unit; requests of a run are not independent of each other. */
export interface ArmValues {
  readonly arm: string;
  readonly values: readonly number[];
}

/** Two arms by one metric: `a` minus `b`. Undefined: too few runs, or none of them varies. */
export interface PairComparison {
  readonly a: string;
  readonly b: string;
  /** Runs of the arm that has fewer. */
  readonly runs: number;
  /** Hodges–Lehmann shift with its 95 % interval. */
  readonly shift: number | undefined;
  readonly interval: Range | undefined;
  /** Welch's test, and the same after Holm's correction over all pairs. */
  readonly p: number | undefined;
  readonly adjustedP: number | undefined;
  readonly cliffsDelta: number | undefined;
  readonly cohensD: number | undefined;
  /** Two one-sided tests against the margin. */
  readonly equivalenceP: number | undefined;
  /** The smallest difference that would be found with 80 % power after the correction for all pairs. */
  readonly detectable: number | undefined;
}

/** The level of every test. */
export const ALPHA = 0.05;
/** The number of pairs grows with the square of the arms. */
export const MAX_ARMS = 64;

/** Every pair of arms, none left out: the family of Holm's correction is all of them. */
export function comparePairs(arms: readonly ArmValues[], margin: number): readonly PairComparison[] {
  if (arms.length > MAX_ARMS) throw new RangeError(`${arms.length} arms: at most ${MAX_ARMS} can be compared`);
  const pairs = arms.flatMap((a, index) => arms.slice(index + 1).map((b) => [a, b] as const));
  const compared = pairs.map(([a, b]) => comparePair(a, b, { margin, pairs: pairs.length }));
  const tested = compared.flatMap(({ p }) => p ?? []);
  const adjusted = holm(tested)[Symbol.iterator]();
  return compared.map((pair) => (pair.p === undefined ? pair : { ...pair, adjustedP: adjusted.next().value }));
}

function comparePair(
  a: ArmValues,
  b: ArmValues,
  { margin, pairs }: { readonly margin: number; readonly pairs: number },
): PairComparison {
  const shifted = hodgesLehmann(a.values, b.values);
  return {
    a: a.arm,
    b: b.arm,
    runs: Math.min(a.values.length, b.values.length),
    shift: shifted?.shift,
    interval: shifted?.interval,
    p: welch(a.values, b.values)?.p,
    adjustedP: undefined,
    cliffsDelta: cliffsDelta(a.values, b.values)?.delta,
    cohensD: cohensD(a.values, b.values),
    equivalenceP: equivalence(a.values, b.values, margin),
    detectable: minimumDetectable(a.values, b.values, { alpha: ALPHA / pairs }),
  };
}

/** What may be said about two arms. `equal` needs evidence of its own: not having found a difference is none. */
export type Conclusion = "different" | "equal" | "different, within the margin" | "undecided";

/** From the corrected test for a difference and the test for equality. */
export function conclusionOf({
  adjustedP,
  equivalenceP,
}: {
  readonly adjustedP?: number | null | undefined;
  readonly equivalenceP?: number | null | undefined;
}): Conclusion {
  const different = (adjustedP ?? 1) < ALPHA;
  const equal = (equivalenceP ?? 1) < ALPHA;
  if (different) return equal ? "different, within the margin" : "different";
  return equal ? "equal" : "undecided";
}
