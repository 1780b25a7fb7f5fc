import type { Features } from "../../protocols/features.js";
import type { Claim } from "./claims.js";

/** A candidate and its weight after stronger tiers were applied. */
export interface Standing {
  readonly candidate: Features;
  /** From 0 to 1; the sum is at most 1, the rest is uncertainty. */
  readonly weight: number;
}

/** A claim of a stronger tier counts fully unless a lower tier has this many times its amount of evidence. */
const OUTNUMBERED = 2.5;

/**
 * Distributes weight tier by tier; only the uncertainty of a tier is left for the next. A clear need for identity leaves nothing
 * for lower tiers, a faint one does not decide.
 */
export function priorityDecide(candidates: readonly Features[], claims: readonly Claim[]): readonly Standing[] {
  const weights = new Map<Features, number>();
  const tiers = [...new Set(claims.map((claim) => claim.tier))];
  let left = 1;
  for (const [index, tier] of tiers.entries()) {
    const lower = claims.filter((claim) => tiers.indexOf(claim.tier) > index);
    const inTier = claims
      .filter((claim) => claim.tier === tier)
      .map((claim) => {
        const { candidate, amount } = claim;
        return { candidate, amount, weight: claim.weight * standing(claim, lower) };
      });
    let doubt = 1;
    let all = 0;
    for (const claim of inTier) {
      doubt *= 1 - claim.weight;
      all += share(claim);
    }
    if (all === 0) continue;
    for (const claim of inTier)
      weights.set(claim.candidate, (weights.get(claim.candidate) ?? 0) + (left * (1 - doubt) * share(claim)) / all);
    left *= doubt;
  }
  return candidates.map((candidate) => ({ candidate, weight: weights.get(candidate) ?? 0 })).sort((a, b) => b.weight - a.weight);
}

/** How much a claim counts against the evidence for others in lower tiers, from 0 to 1. */
function standing({ candidate, amount }: Claim, lower: readonly Claim[]): number {
  const most = lower.reduce((highest, claim) => (claim.candidate === candidate ? highest : Math.max(highest, claim.amount)), 0);
  return Math.min(1, (OUTNUMBERED * amount) / Math.max(most, Number.MIN_VALUE));
}

/** Squared, so that a strong claim outweighs several faint ones. */
function share({ weight, amount }: Pick<Claim, "weight" | "amount">): number {
  const strength = weight * amount;
  return strength * strength;
}
