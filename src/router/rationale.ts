import type { Maybe } from "../envelope/index.js";
import type { CapabilityId, Features } from "../protocols/features.js";
import type { Rejection } from "./decision.js";
import type { Evidence } from "./evidence/capabilities.js";
import type { DecidedBy, Judgement } from "./judge.js";
import { isQuotable } from "./lint/rationale.js";
import type { Claim } from "./select/claims.js";
import { labelOf } from "./select/constraints.js";
import { tierOf } from "./select/tiers.js";

/** The most needs named in a rationale. */
const NAMED_NEEDS = 3;
/** Evidence below this share is not shown beside stronger evidence. */
const SHOWN_SHARE = 0.25;
/** Evidence below this share is never shown. */
const LEAST_SHOWN = 0.08;
const SHOWN_SPANS = 5;

/** The grounds for a candidate: spans of the input and the capabilities they need, the strongest first. */
export interface Grounds {
  readonly spans: readonly string[];
  readonly needs: readonly { readonly capability: CapabilityId; readonly quote: Maybe<string> }[];
}

export function groundsFor(judgement: Judgement, chosen: Features): Grounds {
  const { claims, constraints, module } = judgement;
  const evidence = claims.filter(({ candidate }) => candidate === chosen).flatMap((claim) => claim.evidence);
  const strong = evidence.filter(({ share }) => share >= Math.max(LEAST_SHOWN, Math.min(SHOWN_SHARE, strongest(evidence))));
  const spans: string[] = [];
  const needs = new Map<CapabilityId, Maybe<string>>();
  for (const { kind, capability, stated } of constraints)
    if (
      kind === "requires" &&
      stated &&
      chosen.support[capability] !== undefined &&
      module.requires?.includes(capability) === true
    )
      needs.set(capability, undefined);
  for (const each of strong) {
    const quote = each.quote();
    if (spans.length < SHOWN_SPANS && !spans.some((span) => span.includes(quote) || quote.includes(span))) spans.push(quote);
    if (needs.get(each.capability) === undefined && (needs.size < NAMED_NEEDS || needs.has(each.capability)))
      needs.set(each.capability, spans.includes(quote) && isQuotable(quote) ? quote : undefined);
  }
  return { spans, needs: [...needs].map(([capability, quote]) => ({ capability, quote })) };
}

function strongest(evidence: readonly Evidence[]): number {
  return evidence.reduce((highest, { share }) => Math.max(highest, share), 0);
}

const BY: { readonly [by in DecidedBy]: string } = {
  constraints: "The others cannot carry what is demanded.",
  priority: "",
  narrative: "Others fit equally; the phrase that stands first decides.",
  ranking: "Others fit equally; the ranking decides.",
  order: "Others fit equally; the order of last resort decides.",
  nothing: "",
};

/** One or two sentences: the needs with their evidence, and what decided between the candidates. */
export function rationaleOf({ decidedBy, unfit }: Judgement, { needs }: Grounds): string {
  const asked = needs.length === 0 ? "The text asks for none of the capabilities." : asking(needs);
  const by = decidedBy === "constraints" ? whyAlone(unfit) : BY[decidedBy];
  return by === "" ? asked : `${asked} ${by}`;
}

function whyAlone(unfit: Judgement["unfit"]): string {
  if (unfit.length === 0) return "There is no other candidate.";
  return unfit.every(({ named }) => named) ? "The file allows no other." : BY.constraints;
}

/** The same for one protocol for all modules. */
export function rationaleTogether(_judgement: Judgement, { needs }: Grounds): string {
  const by = "The choice stands for all modules together.";
  return needs.length === 0 ? by : `${asking(needs)} ${by}`;
}

function asking(needs: Grounds["needs"]): string {
  const named = needs.map(({ capability, quote }) =>
    quote === undefined ? labelOf(capability) : `${labelOf(capability)} ("${quote}")`,
  );
  return `Needs ${listed(named)}.`;
}

function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** Why each of the other candidates was rejected. */
export function rejectionsOf(judgement: Judgement, chosen: Maybe<Features>): readonly Rejection[] {
  const { unfit, feasible } = judgement;
  const ruledOut = unfit.map(({ candidate, because }) => ({ protocol: candidate.name, because }));
  const others = feasible
    .filter((candidate) => candidate !== chosen)
    .map((candidate) => ({ protocol: candidate.name, because: whyNot(candidate, chosen, judgement) }));
  const order = [...feasible, ...unfit.map(({ candidate }) => candidate)].map(({ name }) => name);
  return [...ruledOut, ...others].sort((a, b) => order.indexOf(a.protocol) - order.indexOf(b.protocol));
}

function whyNot(candidate: Features, chosen: Maybe<Features>, { claims, evidence, constraints, decidedBy }: Judgement): string {
  const avoided = evidence.find(
    ({ span, capability, share }) => span.stance === "avoided" && share >= SHOWN_SHARE && candidate.inherent.includes(capability),
  );
  if (avoided !== undefined) return `brings ${labelOf(avoided.capability)}, which the text avoids`;
  const demanded = constraints.filter(({ kind }) => kind === "requires").map(({ capability }) => capability);
  const won =
    chosen === undefined
      ? undefined
      : (strongestNeed(chosen, claims) ?? demanded.find((each) => chosen.orientation.includes(each)));
  if (won !== undefined && candidate.support[won] === undefined) return `cannot carry ${labelOf(won)}`;
  const asked = strongestNeed(candidate, claims) ?? demanded.find((each) => candidate.orientation.includes(each));
  if (asked === undefined) {
    const lacking = [won, ...demanded].find((each) => each !== undefined && candidate.lessSuited.includes(each));
    return lacking === undefined ? "nothing that is asked for is what it is made for" : `is less suited for ${labelOf(lacking)}`;
  }
  if (won === undefined) return `${labelOf(asked)} is asked for too faintly`;
  if (decidedBy === "ranking" || decidedBy === "order" || decidedBy === "narrative")
    return "others fit equally, and something else decides";
  return tierOf(won) === tierOf(asked)
    ? `${labelOf(asked)} is asked for, but less clearly than ${labelOf(won)}`
    : `${labelOf(asked)} is asked for, but ${labelOf(won)} weighs more`;
}

/** The clearest need among what a candidate is made for. */
function strongestNeed(candidate: Features, claims: readonly Claim[]): Maybe<CapabilityId> {
  const strongest = claims.filter((claim) => claim.candidate === candidate).sort((a, b) => b.weight - a.weight)[0];
  return strongest === undefined || strongest.weight === 0 ? undefined : strongest.evidence[0]?.capability;
}
