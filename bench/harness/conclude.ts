import type { Measurement, Metric, Range, Row, TargetReport, Verdict } from "./result.js";
import { median, medianInterval, pairedRatios, spread } from "./statistics.js";

/** One number of the result: two rows of one section, compared round by round. */
export interface RatioDefinition {
  readonly key: string;
  readonly section: string;
  readonly of: string;
  readonly over: string;
  readonly metric: Metric;
  readonly target?: Target;
  /** The key of the ratio that says whether its own floor equalled itself: other floors may be noisy without making this one undecided. */
  readonly floor?: string | undefined;
}

export type Target = { readonly atLeast: number } | { readonly atMost: number };

export interface Conclusion {
  readonly ratios: Readonly<Record<string, number>>;
  readonly spread: Readonly<Record<string, Range>>;
  readonly interval: Readonly<Record<string, Range>>;
  readonly targets: Readonly<Record<string, TargetReport>>;
}

/** The baseline measured against itself must be in this range, or the run is inconclusive. */
const SAME: Range = [0.95, 1.05];

/** Where the interval of a floor against itself must be for its rounds to be enough. */
const SETTLED: Range = [0.97, 1.03];

/** What must be close to 1 for a verdict: the median of the floor against itself, or the whole interval of that median. */
export type Precision = "median" | "interval";

/** Why a run decides nothing, for the user; undefined where it does. */
export function whyInconclusive({ interval }: Pick<Conclusion, "interval">, floor: string): string | undefined {
  const between = interval["floor_vs_floor"];
  if (isSettled(between)) return undefined;
  const found = between === undefined ? "too few times" : `as [${between[0].toFixed(3)}, ${between[1].toFixed(3)}] of itself`;
  return `${floor} was measured twice, ${found}, not within ${SETTLED[0]} to ${SETTLED[1]}: nothing is decided.`;
}

/** The per-round ratios of one definition; undefined when one of its two arms did not run. */
export function ratiosOf(definition: RatioDefinition, rows: readonly Row[]): readonly number[] | undefined {
  const find = (arm: string) => rows.find((row) => row.section === definition.section && row.arm === arm);
  const [of, over] = [find(definition.of), find(definition.over)];
  if (of === undefined || over === undefined || of.series.length === 0) return undefined;
  return pairedRatios(valuesOf(of.series, definition.metric), valuesOf(over.series, definition.metric));
}

/** One metric through all rounds. */
export function valuesOf(series: readonly Measurement[], metric: Metric): readonly number[] {
  return series.map((measurement) => {
    const value = measurement[metric];
    if (value === undefined) throw new RangeError(`a round without ${metric}`);
    return value;
  });
}

/** Medians, spreads and targets of everything that was measured. A floor comes before the ratios that name it. */
export function conclude(definitions: readonly RatioDefinition[], rows: readonly Row[]): Conclusion {
  const ratios: Record<string, number> = {};
  const spreads: Record<string, Range> = {};
  const interval: Record<string, Range> = {};
  const targets: Record<string, TargetReport> = {};
  for (const definition of definitions) {
    const perRound = ratiosOf(definition, rows);
    if (perRound === undefined) continue;
    const { key, target, floor } = definition;
    const ratio = median(perRound);
    ratios[key] = ratio;
    spreads[key] = spread(perRound);
    const between = medianInterval(perRound);
    if (between !== undefined) interval[key] = between;
    if (target === undefined) continue;
    const decided = floor === undefined ? {} : { decided: isConclusive(ratios[floor]) && isOutside(target, between) };
    targets[key] = { ...target, met: isMet(target, ratio), ...decided };
  }
  return { ratios, spread: spreads, interval, targets };
}

/** Whether the floor came out equal to itself. */
export function isConclusive(floorVsFloor: number | undefined): boolean {
  return floorVsFloor !== undefined && floorVsFloor >= SAME[0] && floorVsFloor <= SAME[1];
}

/** Whether the interval says that two arms which do the same cost the same. Undefined where one of them did not run. */
export function isSame(definition: RatioDefinition, rows: readonly Row[]): boolean | undefined {
  const perRound = ratiosOf(definition, rows);
  return perRound === undefined ? undefined : isSettled(medianInterval(perRound));
}

export function isSettled(interval: Range | undefined): boolean {
  return interval !== undefined && interval[0] >= SETTLED[0] && interval[1] <= SETTLED[1];
}

/** `wanted` are the keys that this mode must decide. */
export function verdictOf(conclusion: Conclusion, wanted: readonly string[], precision: Precision = "median"): Verdict {
  const { ratios, interval } = conclusion;
  const isSound = precision === "median" ? isConclusive(ratios["floor_vs_floor"]) : isSettled(interval["floor_vs_floor"]);
  if (!isSound) return "inconclusive";
  if (wanted.some((key) => conclusion.targets[key] === undefined)) return "incomplete";
  return Object.values(conclusion.targets).every((target) => target.met) ? "met" : "missed";
}

/** Targets inside the 95 % interval of the ratio: another run may decide differently. */
export function tooCloseToCall({ targets, interval }: Pick<Conclusion, "targets" | "interval">): readonly string[] {
  return Object.entries(targets).flatMap(([key, target]) => {
    const between = interval[key];
    return between === undefined || isOutside(target, between) ? [] : [key];
  });
}

/** Whether the interval is known and on one side of the target. */
function isOutside({ atLeast, atMost }: Pick<TargetReport, "atLeast" | "atMost">, between: Range | undefined): boolean {
  const wanted = atLeast ?? atMost;
  return between !== undefined && (wanted === undefined || wanted <= between[0] || between[1] <= wanted);
}

function isMet(target: Target, ratio: number): boolean {
  return "atLeast" in target ? ratio >= target.atLeast : ratio <= target.atMost;
}

/** A number that is no ratio: a time, a size. Its target, where it has one, is an upper limit. */
export interface Figure {
  readonly key: string;
  readonly values: readonly number[];
  readonly atMost?: number | undefined;
}

export function withFigure(sofar: Conclusion, { key, values, atMost }: Figure): Conclusion {
  const value = median(values);
  const between = medianInterval(values);
  return {
    ratios: { ...sofar.ratios, [key]: value },
    spread: { ...sofar.spread, [key]: spread(values) },
    interval: between === undefined ? sofar.interval : { ...sofar.interval, [key]: between },
    targets: atMost === undefined ? sofar.targets : { ...sofar.targets, [key]: { atMost, met: value <= atMost } },
  };
}
