import type { Features } from "../../protocols/features.js";
import type { Claim } from "./claims.js";

/** Of candidates that stand alike, those whose defining phrase comes first in the text; all where no phrase is clear. */
export function pickByNarrative(candidates: readonly Features[], claims: readonly Claim[]): readonly Features[] {
  const firstOf = (candidate: Features): number =>
    claims.reduce(
      (first, claim) => (claim.candidate === candidate ? Math.min(first, claim.first) : first),
      Number.POSITIVE_INFINITY,
    );
  const earliest = Math.min(...candidates.map(firstOf));
  return candidates.filter((candidate) => firstOf(candidate) === earliest);
}
