import type { Features } from "../../protocols/features.js";
import type { Claim } from "./claims.js";

/** A candidate and what speaks for it once stronger needs have had their say. */
export interface Standing {
  readonly candidate: Features;
  /** From 0 to 1; all together at most 1, the rest is doubt. */
  readonly weight: number;
}

/** One remark of a stronger kind does not outweigh a text that is about something else: so many times as much must not be said. */
const OUTNUMBERED = 2.5;

/**
 * Tier by tier, what claims are sure of is given away, and only what is left in doubt goes down to the next: a clear need for
 * identity leaves nothing for the rest, a faint one does not decide.
 */
export function priorityDecide(candidates: readonly Features[], claims: readonly Claim[]): readonly Standing[] {
  const weights = new Map<Features, number>();
  const tiers = [...new Set(claims.map((claim) => claim.tier))];
  let left = 1;
  for (const [index, tier] of tiers.entries()) {
    const lower = claims.filter((claim) => tiers.indexOf(claim.tier) > index);
    const inTier = claims
      .filter((claim) => claim.tier === tier)
      .map((claim) => ({ ...claim, weight: claim.weight * standing(claim, lower) }));
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

/** How far a claim holds its own against what is said for others in lower tiers, from 0 to 1. */
function standing({ candidate, amount }: Claim, lower: readonly Claim[]): number {
  const most = lower.reduce((highest, claim) => (claim.candidate === candidate ? highest : Math.max(highest, claim.amount)), 0);
  return Math.min(1, (OUTNUMBERED * amount) / Math.max(most, Number.MIN_VALUE));
}

/** The stronger takes more than its share: a faint second need is a remark. */
function share({ weight, amount }: Claim): number {
  const strength = weight * amount;
  return strength * strength;
}
