import type { Maybe } from "../../envelope/index.js";
import type { CapabilityId, Features } from "../../protocols/features.js";
import type { Evidence } from "../evidence/capabilities.js";
import type { Span } from "../evidence/extract.js";
import type { PassageKind } from "../scenario.js";
import type { Tier } from "../settings.js";
import { tierOf } from "./tiers.js";

/** How strongly a module's text supports a candidate, by the needs of one tier, or of all if tiers are off. */
export interface Claim {
  readonly candidate: Features;
  readonly tier: Maybe<Tier>;
  /** From 0 to 1. */
  readonly weight: number;
  /** The amount of evidence, for comparing weights near 1. */
  readonly amount: number;
  /** Its evidence, the strongest first. */
  readonly evidence: readonly Evidence[];
  /** The position of its first strong evidence. */
  readonly first: number;
}

/** The weight of evidence by kind of passage. */
const BY_KIND: { readonly [kind in PassageKind]: number } = { name: 0.5, need: 1, risk: 0.9, must: 1, mustNot: 1 };

/** One span alone never gives full weight. */
const CERTAINTY = 0.9;
/** The least weight of a defining phrase. */
const CLEAR = 0.3;

export interface ClaimSettings {
  /** Undefined: all needs have equal weight. */
  readonly tiers: Maybe<readonly Tier[]>;
  /** What the file requires explicitly. */
  readonly required: readonly CapabilityId[];
  /** Shares below this do not count as evidence for a candidate. */
  readonly floor: number;
}

/** The support of the wanted evidence for each candidate, tier by tier. */
export function claimsOf(
  candidates: readonly Features[],
  evidence: readonly Evidence[],
  settings: ClaimSettings,
): readonly Claim[] {
  const { tiers, required, floor } = settings;
  const wanted = evidence.filter(({ span }) => span.stance === "wanted");
  const avoided = evidence.filter(({ span }) => span.stance === "avoided");
  return (tiers ?? [undefined]).flatMap((tier) =>
    candidates.map((candidate) => {
      const concerns = (capability: CapabilityId): boolean =>
        candidate.orientation.includes(capability) && (tier === undefined || tierOf(capability) === tier);
      const own = wanted.filter(({ capability }) => concerns(capability));
      const against = avoided.filter(({ capability }) => candidate.inherent.includes(capability));
      const { weight, amount, first } = weigh(own, floor);
      const stated = required.some(concerns);
      return {
        candidate,
        tier,
        weight: (stated ? 1 : weight) * (1 - weigh(against, floor).weight),
        amount: stated ? Math.max(1, amount) : amount,
        // Its own list: what was filtered nobody else has.
        evidence: own.sort((a, b) => b.share - a.share || a.span.position - b.span.position),
        first: stated ? -1 : first,
      };
    }),
  );
}

const NOTHING = { weight: 0, amount: 0, first: Number.POSITIVE_INFINITY };

/** Each span adds certainty; none reaches it fully. */
function weigh(evidence: readonly Evidence[], floor: number): Pick<Claim, "weight" | "amount" | "first"> {
  if (evidence.length === 0) return NOTHING;
  const bySpan = new Map<Span, number>();
  for (const { span, share } of evidence) bySpan.set(span, (bySpan.get(span) ?? 0) + share);
  let doubt = 1;
  let amount = 0;
  let first = Number.POSITIVE_INFINITY;
  for (const [span, share] of bySpan) {
    const above = Math.max(0, (Math.min(share, 1) - floor) / (1 - floor)) * BY_KIND[span.kind] * span.trust;
    doubt *= 1 - CERTAINTY * above;
    amount += above;
    if (above > CLEAR) first = Math.min(first, span.position);
  }
  return { weight: 1 - doubt, amount, first };
}
