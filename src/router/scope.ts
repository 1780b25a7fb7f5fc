import type { Maybe } from "../envelope/index.js";
import type { Features } from "../protocols/features.js";
import { ALIKE, type Judgement } from "./judge.js";
import type { Unfit } from "./select/constraints.js";
import { lastResort } from "./select/last-resort.js";

/** One protocol for all modules of a scenario, or none. */
export interface Agreement {
  /** Undefined where nobody suits all, or nothing in the texts speaks for one of those who do. */
  readonly chosen: Maybe<Features>;
  /** How far ahead of the next that suits all, from 0 to 1. */
  readonly margin: number;
  /** The candidates that every module can live with. */
  readonly suited: readonly Features[];
}

/** Of the candidates that every module can live with, the one that most speaks for over all modules. */
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
    return { chosen: best.candidate, margin: Math.max(best.weight, stated ? 1 : 0), suited };
  }
  if (best.weight === 0) return { chosen: undefined, margin: 0, suited };
  const alike = standings.filter(({ weight }) => best.weight - weight < ALIKE).map(({ candidate }) => candidate);
  return { chosen: lastResort(alike, suited, ranking), margin: alike.length === 1 ? best.weight - next.weight : 0, suited };
}

/** A judgement as it stands when its scenario has one protocol: who fails one module fails all. */
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
