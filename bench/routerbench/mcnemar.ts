import { mcnemar } from "../harness/proportions.js";
import { isRight, type Outcome } from "./outcome.js";

/** Two runs over the same modules: how often only one of them is right, and how likely that is by chance. */
export interface Comparison {
  readonly first: string;
  readonly second: string;
  /** Modules that both runs answered; those that only one scored are left out. */
  readonly pairs: number;
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** McNemar's exact test, two-sided: a small value says that the runs differ. */
  readonly p: number;
}

/** Compares two runs module by module. */
export function compareRuns(
  first: { readonly name: string; readonly outcomes: readonly Outcome[] },
  second: { readonly name: string; readonly outcomes: readonly Outcome[] },
): Comparison {
  const rightInFirst = new Map(first.outcomes.map((outcome) => [keyOf(outcome), isRight(outcome)]));
  let [pairs, onlyFirst, onlySecond] = [0, 0, 0];
  for (const outcome of second.outcomes) {
    const before = rightInFirst.get(keyOf(outcome));
    if (before === undefined) continue;
    pairs++;
    if (before && !isRight(outcome)) onlyFirst++;
    if (!before && isRight(outcome)) onlySecond++;
  }
  return { first: first.name, second: second.name, pairs, onlyFirst, onlySecond, p: mcnemar(onlyFirst, onlySecond) };
}

function keyOf({ file, scenario_id, module_id }: Outcome): string {
  return JSON.stringify([file, scenario_id, module_id]);
}
