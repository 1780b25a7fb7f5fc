import { groupBy, isRight, type Outcome } from "./outcome.js";
import { type Selective, selectiveOf } from "./selective.js";
import { type Share, shareOf } from "./share.js";

/** Scenarios are right only if all their modules are. */
export interface Accuracy {
  readonly scenarios: Share;
  readonly modules: Share;
}

/** The same for a part of the cases: one level, or one file. */
export interface PartAccuracy<K> extends Accuracy {
  readonly part: K;
}

export interface ProtocolScore {
  readonly protocol: string;
  readonly precision: Share;
  readonly recall: Share;
  readonly f1: number;
  /** How often it is the right answer. */
  readonly support: number;
}

/** One row per right answer, one column per chosen one, and one for abstaining. */
export interface Confusion {
  readonly protocols: readonly string[];
  readonly rows: readonly { readonly label: string; readonly chosen: readonly number[]; readonly abstained: number }[];
}

/** The metrics of one run. */
export interface Metrics extends Accuracy {
  readonly abstained: number;
  /** Null where there is nothing to score. */
  readonly macroF1: number | null;
  readonly levels: readonly PartAccuracy<number | null>[];
  readonly files: readonly PartAccuracy<string>[];
  readonly protocols: readonly ProtocolScore[];
  readonly confusion: Confusion;
  /** Null if there are no margins. */
  readonly selective: Selective | null;
}

/** Everything that is counted. `protocols` are the candidates, in the order in which tables show them. */
export function measure(outcomes: readonly Outcome[], protocols: readonly string[]): Metrics {
  const scores = protocols.map((protocol) => scoreOf(protocol, outcomes));
  return {
    ...accuracyOf(outcomes),
    abstained: outcomes.filter(({ chosen }) => chosen === null).length,
    macroF1: macroF1(scores),
    levels: partsOf(outcomes, ({ level }) => level).sort((a, b) => order(a.part) - order(b.part)),
    files: partsOf(outcomes, ({ file }) => file),
    protocols: scores,
    confusion: confusionOf(outcomes, protocols),
    selective: selectiveOf(outcomes),
  };
}

/** Modules without a level come last. */
function order(level: number | null): number {
  return level ?? Number.MAX_SAFE_INTEGER;
}

function partsOf<K>(outcomes: readonly Outcome[], partOf: (outcome: Outcome) => K): PartAccuracy<K>[] {
  return Array.from(groupBy(outcomes, partOf), ([part, members]) => ({ part, ...accuracyOf(members) }));
}

export function accuracyOf(outcomes: readonly Outcome[]): Accuracy {
  const scenarios = [...groupBy(outcomes, ({ file, scenario_id }) => JSON.stringify([file, scenario_id])).values()];
  return {
    scenarios: shareOf(scenarios.filter((modules) => modules.every(isRight)).length, scenarios.length),
    modules: shareOf(outcomes.filter(isRight).length, outcomes.length),
  };
}

function scoreOf(protocol: string, outcomes: readonly Outcome[]): ProtocolScore {
  const hits = outcomes.filter((outcome) => outcome.label === protocol && isRight(outcome)).length;
  const chosen = outcomes.filter((outcome) => outcome.chosen === protocol).length;
  const support = outcomes.filter(({ label }) => label === protocol).length;
  return {
    protocol,
    precision: shareOf(hits, chosen),
    recall: shareOf(hits, support),
    // The harmonic mean of both, written so that it is 0 and not undefined where one of them is.
    f1: hits === 0 ? 0 : (2 * hits) / (chosen + support),
    support,
  };
}

/**
 * The mean over the protocols that are right or chosen at least once. One that is neither says nothing and is left out; one
 * that is never right or never chosen counts as 0. So does scikit-learn with `zero_division=0` over the labels present.
 */
function macroF1(scores: readonly ProtocolScore[]): number | null {
  const present = scores.filter(({ support, precision }) => support > 0 || precision.of > 0);
  return present.length === 0 ? null : present.reduce((sum, { f1 }) => sum + f1, 0) / present.length;
}

function confusionOf(outcomes: readonly Outcome[], protocols: readonly string[]): Confusion {
  const rows = protocols.map((label) => {
    const here = outcomes.filter((outcome) => outcome.label === label);
    const count = (protocol: string | null): number => here.filter(({ chosen }) => chosen === protocol).length;
    return { label, chosen: protocols.map(count), abstained: count(null) };
  });
  return { protocols, rows };
}
