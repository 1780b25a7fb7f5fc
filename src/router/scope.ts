import type { Maybe } from "../envelope/index.js";
import type { Features } from "../protocols/features.js";
import { type Judgement, TIE_WIDTH } from "./judge.js";
import { marginOf } from "./select/confidence.js";
import type { Unfit } from "./select/constraints.js";
import { lastResort } from "./select/tie-break.js";

/** One protocol for all modules of a scenario, or none. */
export interface Agreement {
  /** Undefined if no candidate suits all modules, or no text supports one that does. */
  readonly chosen: Maybe<Features>;
  /** The lead over the next candidate that suits all, from 0 to 1. */
  readonly margin: number;
  /** The candidates that are feasible for every module. */
  readonly suited: readonly Features[];
}

/** The candidate with the highest mean weight among those feasible for every module. */
export function agreeOnOne(judgements: readonly Judgement[], ranking?: Maybe<readonly string[]>): Agreement {
  const [first] = judgements;
  const suited = (first?.feasible ?? []).filter((candidate) => judgements.every(({ feasible }) => feasible.includes(candidate)));
  const weightOf = (candidate: Features): number =>
    judgements.reduce((sum, { standings }) => sum + (standings.find((each) => each.candidate === candidate)?.weight ?? 0), 0) /
    judgements.length;
  const standings = suited.map((candidate) => ({ candidate, weight: weightOf(candidate) })).sort((a, b) => b.weight - a.weight);
  const [best, next] = standings;
  if (best === undefined) return { chosen: undefined, margin: 0, suited };
  if (next === undefined) {
    const stated = judgements.every(({ constraints }) => constraints.every((constraint) => constraint.stated));
    return { chosen: best.candidate, margin: stated ? 1 : marginOf(best.weight), suited };
  }
  if (best.weight === 0) return { chosen: undefined, margin: 0, suited };
  const tied = standings.filter(({ weight }) => best.weight - weight < TIE_WIDTH).map(({ candidate }) => candidate);
  return {
    chosen: lastResort(tied, suited, ranking),
    margin: tied.length === 1 ? marginOf(best.weight - next.weight) : 0,
    suited,
  };
}

/** A judgement under one protocol per scenario: a candidate unfit for one module is unfit for all. */
export function heldTogether(judgement: Judgement, all: readonly Judgement[], { suited }: Agreement): Judgement {
  const unfit = [...judgement.feasible, ...judgement.unfit.map(({ candidate }) => candidate)].flatMap(
    (candidate): readonly Unfit[] => {
      if (suited.includes(candidate)) return [];
      const own = judgement.unfit.find((each) => each.candidate === candidate);
      return own === undefined ? whyElsewhere(candidate, all) : [own];
    },
  );
  return { ...judgement, feasible: suited, unfit };
}

function whyElsewhere(candidate: Features, all: readonly Judgement[]): readonly Unfit[] {
  const found = all.flatMap(({ unfit }) => unfit).find((each) => each.candidate === candidate);
  return found === undefined ? [] : [{ ...found, because: `for another module it ${found.because}` }];
}
