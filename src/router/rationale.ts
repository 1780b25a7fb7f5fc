import type { Maybe } from "../envelope/index.js";
import type { CapabilityId, Features } from "../protocols/features.js";
import type { Rejection } from "./decision.js";
import type { Evidence } from "./evidence/capabilities.js";
import type { DecidedBy, Judgement } from "./judge.js";
import { isQuotable } from "./lint-rationale.js";
import { labelOf } from "./select/constraints.js";
import { tierOf } from "./select/tiers.js";

/** As many needs as a reader takes in at a glance. */
const NAMED_NEEDS = 3;
/** Evidence fainter than this is not worth showing beside stronger. */
const SHOWN_SHARE = 0.25;
const SHOWN_SPANS = 5;

/** What speaks for the chosen candidate: spans of the input, and the capabilities they ask for, the strongest first. */
export interface Grounds {
  readonly spans: readonly string[];
  readonly needs: readonly { readonly capability: CapabilityId; readonly quote: Maybe<string> }[];
}

export function groundsFor(judgement: Judgement, chosen: Features): Grounds {
  const { claims, constraints, module } = judgement;
  const evidence = claims.filter(({ candidate }) => candidate === chosen).flatMap((claim) => claim.evidence);
  const strong = evidence.filter(({ share }) => share >= Math.min(SHOWN_SHARE, strongest(evidence)));
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

/** One or two sentences: needs, with the words they were read from, and what parted the candidates. */
export function rationaleOf({ decidedBy, unfit }: Judgement, { needs }: Grounds): string {
  const asked = needs.length === 0 ? "The text asks for none of the capabilities." : asking(needs);
  const by = decidedBy === "constraints" ? whyAlone(unfit) : BY[decidedBy];
  return by === "" ? asked : `${asked} ${by}`;
}

function whyAlone(unfit: Judgement["unfit"]): string {
  if (unfit.length === 0) return "There is no other candidate.";
  return unfit.every(({ because }) => because.includes("file")) ? "The file allows no other." : BY.constraints;
}

/** The same where one protocol was chosen for all modules: this one may need nothing of what decided. */
export function rationaleTogether({ needs }: Grounds): string {
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

/** Why each of the others was not taken. */
export function rejectionsOf(judgement: Judgement, chosen: Maybe<Features>): readonly Rejection[] {
  const { unfit, feasible, claims, evidence } = judgement;
  const ruledOut = unfit.map(({ candidate, because }) => ({ protocol: candidate.name, because }));
  const deciding = claims.filter(({ candidate }) => candidate === chosen).sort((a, b) => b.weight - a.weight)[0];
  const others = feasible
    .filter((candidate) => candidate !== chosen)
    .map((candidate) => {
      const own = claims.filter((claim) => claim.candidate === candidate).sort((a, b) => b.weight - a.weight)[0];
      const avoided = evidence.find(
        ({ span, capability, share }) =>
          span.stance === "avoided" && share >= SHOWN_SHARE && candidate.inherent.includes(capability),
      );
      const asked = own?.evidence[0];
      if (avoided !== undefined)
        return { protocol: candidate.name, because: `brings ${labelOf(avoided.capability)}, which the text avoids` };
      if (own === undefined || own.weight === 0 || asked === undefined)
        return { protocol: candidate.name, because: lessSuited(candidate, deciding?.evidence[0]) };
      const won = deciding?.evidence[0];
      const because =
        won === undefined
          ? `${labelOf(asked.capability)} is asked for too faintly`
          : tierOf(won.capability) === tierOf(asked.capability)
            ? `${labelOf(asked.capability)} is asked for, but less clearly than ${labelOf(won.capability)}`
            : `${labelOf(asked.capability)} is asked for, but ${labelOf(won.capability)} weighs more`;
      return { protocol: candidate.name, because };
    });
  const order = [...feasible, ...unfit.map(({ candidate }) => candidate)].map(({ name }) => name);
  return [...ruledOut, ...others].sort((a, b) => order.indexOf(a.protocol) - order.indexOf(b.protocol));
}

function lessSuited(candidate: Features, won: Maybe<Evidence>): string {
  return won !== undefined && candidate.lessSuited.includes(won.capability)
    ? `is less suited for ${labelOf(won.capability)}`
    : "nothing in the text asks for what it is made for";
}
