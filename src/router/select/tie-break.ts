import type { Maybe } from "../../envelope/index.js";
import type { CapabilityId, Features, Support } from "../../protocols/features.js";
import { tieBreakWithPrior } from "../priors.js";
import type { Claim } from "./claims.js";

/** Of tied candidates, those whose defining phrase comes first in the text; all if no phrase is clear. */
export function pickByNarrative(candidates: readonly Features[], claims: readonly Claim[]): readonly Features[] {
  const firstOf = (candidate: Features): number =>
    claims.reduce(
      (first, claim) => (claim.candidate === candidate ? Math.min(first, claim.first) : first),
      Number.POSITIVE_INFINITY,
    );
  const earliest = Math.min(...candidates.map(firstOf));
  return candidates.filter((candidate) => firstOf(candidate) === earliest);
}

/** Of tied candidates, the first in the ranking, or without one the first in the order of the candidates. */
export function lastResort(
  tied: readonly Features[],
  order: readonly Features[],
  ranking: Maybe<readonly string[]>,
): Maybe<Features> {
  const inOrder = order.filter((candidate) => tied.includes(candidate));
  if (ranking === undefined || inOrder.length === 0) return inOrder[0];
  const name = tieBreakWithPrior(
    inOrder.map((candidate) => candidate.name),
    ranking,
  );
  return inOrder.find((candidate) => candidate.name === name);
}

const WORTH: { readonly [support in Support]: number } = { native: 2, composed: 1 };

/** The candidates that support these needs best, all of them where they do so alike. */
export function alikeByNeeds(candidates: readonly Features[], needs: ReadonlySet<CapabilityId>): readonly Features[] {
  const worthOf = ({ support }: Features): number =>
    [...needs].reduce((sum, need) => sum + (support[need] === undefined ? 0 : WORTH[support[need]]), 0);
  const most = Math.max(...candidates.map(worthOf));
  return candidates.filter((candidate) => worthOf(candidate) === most);
}
