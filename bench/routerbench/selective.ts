import { groupBy, isRight, type Outcome } from "./outcome.js";
import { type Share, shareOf } from "./share.js";

/** The gain of answering only with a large enough margin. */
export interface CoveragePoint {
  readonly threshold: number;
  /** Answered with at least this margin, of all. */
  readonly coverage: Share;
  /** Right, of those. */
  readonly accuracy: Share;
}

/** The answers whose margins are in one tenth. */
export interface ReliabilityBin {
  /** The lower edge, which belongs to the bin. */
  readonly from: number;
  /** The mean margin; null if the bin is empty. */
  readonly margin: number | null;
  readonly accuracy: Share;
}

/** The quality of the margin as a confidence. */
export interface Selective {
  readonly curve: readonly CoveragePoint[];
  /** How often answers are right, by their margin. */
  readonly reliability: readonly ReliabilityBin[];
  /** Area under the curve of risk over coverage: 0 is best. */
  readonly aurc: number;
  /** Expected calibration error of the margin, over the answered modules; null if there are none. */
  readonly ece: number | null;
}

/** Ten thresholds and ten bins: margins come in hundredths. */
const STEPS = 10;

/** Null if there are no modules, or answers without a margin. */
export function selectiveOf(outcomes: readonly Outcome[]): Selective | null {
  const rated = outcomes.flatMap(rate);
  if (rated.length === 0 || rated.length < outcomes.length) return null;
  return { curve: curveOf(rated), reliability: reliabilityOf(rated), aurc: aurcOf(rated), ece: eceOf(rated) };
}

interface Rated {
  /** Below every margin where it abstained. */
  readonly margin: number;
  readonly right: boolean;
}

const ABSTAINED = -1;

function rate(outcome: Outcome): readonly Rated[] {
  if (outcome.chosen === null) return [{ margin: ABSTAINED, right: false }];
  return outcome.margin === null ? [] : [{ margin: outcome.margin, right: isRight(outcome) }];
}

function curveOf(rated: readonly Rated[]): readonly CoveragePoint[] {
  return Array.from({ length: STEPS }, (_, step) => {
    const threshold = step / STEPS;
    const covered = rated.filter(({ margin }) => margin >= threshold);
    const right = covered.filter((each) => each.right);
    return {
      threshold,
      coverage: shareOf(covered.length, rated.length),
      accuracy: shareOf(right.length, covered.length),
    };
  });
}

/**
 * The mean risk over all coverages, the largest margins first. Equal margins have no order, so each stands for the mean of
 * its group. What abstained comes last and is wrong: with everything covered, the risk is what accuracy leaves.
 */
function aurcOf(rated: readonly Rated[]): number {
  const groups = [...groupBy(rated, ({ margin }) => margin)].sort(([a], [b]) => b - a);
  let covered = 0;
  let wrong = 0;
  let area = 0;
  for (const [, group] of groups) {
    const share = group.filter(({ right }) => !right).length / group.length;
    for (let index = 0; index < group.length; index++) {
      covered++;
      wrong += share;
      area += wrong / covered;
    }
  }
  return area / rated.length;
}

function binOf({ margin }: Rated): number {
  return Math.min(STEPS - 1, Math.floor(margin * STEPS));
}

function reliabilityOf(rated: readonly Rated[]): readonly ReliabilityBin[] {
  const bins = groupBy(
    rated.filter(({ margin }) => margin !== ABSTAINED),
    binOf,
  );
  return Array.from({ length: STEPS }, (_, step) => {
    const bin = bins.get(step) ?? [];
    return {
      from: step / STEPS,
      margin: bin.length === 0 ? null : bin.reduce((sum, { margin }) => sum + margin, 0) / bin.length,
      accuracy: shareOf(bin.filter(({ right }) => right).length, bin.length),
    };
  });
}

/** The mean distance between margin and accuracy, by bins of a tenth: the margin is read as if it were a probability. */
function eceOf(rated: readonly Rated[]): number | null {
  const answered = rated.filter(({ margin }) => margin !== ABSTAINED);
  if (answered.length === 0) return null;
  let error = 0;
  for (const bin of groupBy(answered, binOf).values()) {
    const right = bin.filter((each) => each.right).length;
    const margins = bin.reduce((sum, { margin }) => sum + margin, 0);
    error += Math.abs(right - margins) / answered.length;
  }
  return error;
}
