import type { Maybe } from "../../envelope/index.js";
import type { Features } from "../../protocols/features.js";
import { tieBreakWithPrior } from "../priors.js";

/** Of candidates that stand alike: the first of a ranking, or without one the first in the order of the candidates. */
export function lastResort(
  alike: readonly Features[],
  order: readonly Features[],
  ranking: Maybe<readonly string[]>,
): Maybe<Features> {
  const inOrder = order.filter((candidate) => alike.includes(candidate));
  if (ranking === undefined || inOrder.length === 0) return inOrder[0];
  const name = tieBreakWithPrior(
    inOrder.map((candidate) => candidate.name),
    ranking,
  );
  return inOrder.find((candidate) => candidate.name === name);
}
