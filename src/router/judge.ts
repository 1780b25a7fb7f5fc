import type { Maybe } from "../envelope/index.js";
import { defaultCandidates } from "../protocols/candidates.js";
import type { Features } from "../protocols/features.js";
import { type Evidence, mapSpansToCapabilities, type Readings } from "./evidence/capabilities.js";
import { extractEvidenceSpans, type Span } from "./evidence/extract.js";
import type { Module, Scenario } from "./scenario.js";
import { type Claim, claimsOf } from "./select/claims.js";
import { type Constraint, constraintsOf, reduceCandidates, type Unfit } from "./select/constraints.js";
import { lastResort } from "./select/last-resort.js";
import { pickByNarrative } from "./select/narrative.js";
import { priorityDecide, type Standing } from "./select/priority.js";
import { PRIORITY, type RouterSettings, type Tier } from "./settings.js";

/** What told the first candidate from the second. */
export type DecidedBy = "constraints" | "priority" | "narrative" | "ranking" | "order" | "nothing";

/** Everything that was found out about one module on the way to a decision. */
export interface Judgement {
  readonly scenario: Scenario;
  readonly module: Module;
  readonly spans: readonly Span[];
  readonly evidence: readonly Evidence[];
  readonly constraints: readonly Constraint[];
  readonly feasible: readonly Features[];
  readonly unfit: readonly Unfit[];
  readonly claims: readonly Claim[];
  readonly standings: readonly Standing[];
  /** Undefined where the router abstains. */
  readonly chosen: Maybe<Features>;
  readonly decidedBy: DecidedBy;
  /** How far ahead, from 0 to 1. */
  readonly margin: number;
}

/** Candidates this close stand alike: only the order of the telling, a prior or the order of last resort parts them. */
export const ALIKE = 0.02;
/** Below this nothing was said that decides. */
const DECIDES = 0.06;
/** How faint a reading may be, and what it is worth then. */
const PLAIN = { floor: 0.3, worth: 1 };
/** Tried only where a plain look finds nothing. */
const CLOSER = { floor: 0.08, worth: 0.4 };

/** Spans that somebody else has read too. */
export interface ReadSpans {
  readonly spans: readonly Span[];
  readonly readings: Readings;
}

/** The stretches of a module's input that are evidence, as the settings let them count. */
export function spansOf(scenario: Scenario, module: Module, { without = [] }: RouterSettings): readonly Span[] {
  return extractEvidenceSpans(scenario, module, { stance: !without.includes("stance"), locks: !without.includes("locks") });
}

/** The spec-only pipeline: evidence, capabilities, compatible candidates, priority, narrative, order of last resort. */
export function judge(scenario: Scenario, module: Module, settings: RouterSettings = {}, read?: ReadSpans): Judgement {
  const without = new Set(settings.without);
  const locks = !without.has("locks");
  const candidates = settings.candidates ?? defaultCandidates();
  const spans = read?.spans ?? spansOf(scenario, module, settings);
  const evidence = mapSpansToCapabilities(spans, {
    phrases: !without.has("phrases"),
    stance: !without.has("stance"),
    readings: read?.readings,
  });
  const constraints = constraintsOf(module, evidence, { locks });
  const { feasible, unfit } = reduceCandidates(candidates, module, constraints, { locks });
  // Groups that a setting does not name come after those it names.
  const tiers = [...new Set([...(settings.priority ?? []), ...PRIORITY])];
  const weighed = weigh({ feasible, evidence, constraints, tiers, priority: !without.has("priority") });
  const stated = constraints.every((constraint) => constraint.stated);
  const picked = pick(weighed, { feasible, stated, ranking: settings.ranking, narrative: !without.has("narrative") });
  return { scenario, module, spans, evidence, constraints, feasible, unfit, ...weighed, ...picked };
}

interface Weighing {
  readonly feasible: readonly Features[];
  readonly evidence: readonly Evidence[];
  readonly constraints: readonly Constraint[];
  readonly tiers: readonly Tier[];
  readonly priority: boolean;
}

function weigh(parts: Weighing): Pick<Judgement, "claims" | "standings"> {
  const { feasible, evidence, constraints, tiers, priority } = parts;
  const required = constraints.filter(({ kind, stated }) => kind === "requires" && stated).map(({ capability }) => capability);
  const look = ({ floor, worth }: typeof PLAIN): Pick<Judgement, "claims" | "standings"> => {
    const claims = claimsOf(feasible, evidence, { tiers: priority ? tiers : undefined, required, floor });
    const standings = priorityDecide(feasible, claims).map((standing) => ({ ...standing, weight: standing.weight * worth }));
    return { claims, standings };
  };
  const plain = look(PLAIN);
  return (plain.standings[0]?.weight ?? 0) >= DECIDES ? plain : look(CLOSER);
}

interface Picking {
  readonly feasible: readonly Features[];
  /** What rules the others out stands in the file in so many words. */
  readonly stated: boolean;
  readonly ranking: Maybe<readonly string[]>;
  readonly narrative: boolean;
}

function pick(
  { claims, standings }: Pick<Judgement, "claims" | "standings">,
  { feasible, stated, ranking, narrative }: Picking,
): Pick<Judgement, "chosen" | "decidedBy" | "margin"> {
  const [best, next] = standings;
  if (best === undefined) return { chosen: undefined, decidedBy: "nothing", margin: 0 };
  if (next === undefined)
    return { chosen: best.candidate, decidedBy: "constraints", margin: Math.max(best.weight, stated ? 1 : 0) };
  if (best.weight < DECIDES) return { chosen: undefined, decidedBy: "nothing", margin: 0 };
  const alike = standings.filter(({ weight }) => best.weight - weight < ALIKE).map(({ candidate }) => candidate);
  const margin = best.weight - next.weight;
  if (alike.length === 1) return { chosen: best.candidate, decidedBy: "priority", margin };
  const told = narrative ? pickByNarrative(alike, claims) : alike;
  if (told.length === 1) return { chosen: told[0], decidedBy: "narrative", margin: 0 };
  return { chosen: lastResort(told, feasible, ranking), decidedBy: ranking === undefined ? "order" : "ranking", margin: 0 };
}

/** What every hard constraint lets through. */
export function feasibleCandidates(scenario: Scenario, module: Module, settings: RouterSettings = {}): readonly Features[] {
  return judge(scenario, module, settings).feasible;
}
