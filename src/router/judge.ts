import type { Maybe } from "../envelope/index.js";
import { defaultCandidates } from "../protocols/candidates.js";
import type { Features } from "../protocols/features.js";
import { type Evidence, mapSpansToCapabilities, type Readings } from "./evidence/capabilities.js";
import { extractEvidenceSpans, type Span } from "./evidence/extract.js";
import { type Unread, unreadIn } from "./evidence/substance.js";
import type { Module, Scenario } from "./scenario.js";
import { type Claim, claimsOf } from "./select/claims.js";
import { marginOf } from "./select/confidence.js";
import { type Constraint, constraintsOf, reduceCandidates, type Unfit } from "./select/constraints.js";
import { priorityDecide, type Standing } from "./select/priority.js";
import { alikeByNeeds, lastResort, pickByNarrative } from "./select/tie-break.js";
import { PRIORITY, type RouterSettings, type Tier } from "./settings.js";

/** What separated the first candidate from the second. */
export type DecidedBy = "constraints" | "priority" | "narrative" | "ranking" | "order" | "nothing";

/** The full result of judging one module: what a decision is made from. */
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
  /** How sure the decision is, from 0 to 1, by the lead over the next candidate. From one half on, 99 of 100 are right. */
  readonly margin: number;
  /** Why the text decides nothing, where the words themselves are the reason. */
  readonly unread?: Maybe<Unread>;
}

/** Candidates this close are tied: narrative order, a ranking or the default order decides. */
export const TIE_WIDTH = 0.02;
/** Below this weight the router abstains. */
const MIN_WEIGHT = 0.06;
/** The lowest share that counts as evidence, and the factor applied to it. */
const PLAIN = { floor: 0.3, worth: 1 };
/** Used only where the plain threshold finds nothing. */
const FAINT = { floor: 0.08, worth: 0.4 };

/** Spans with readings by sentence embeddings. */
export interface ReadSpans {
  readonly spans: readonly Span[];
  readonly readings: Readings;
}

/** The evidence spans of a module, under these settings. */
export function spansOf(scenario: Scenario, module: Module, { without = [] }: RouterSettings): readonly Span[] {
  return extractEvidenceSpans(scenario, module, { stance: !without.includes("stance"), locks: !without.includes("locks") });
}

/** The spec-only pipeline: evidence, capabilities, compatible candidates, priority, narrative, default order. */
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
  const judged = { scenario, module, spans, evidence, constraints, feasible, unfit, ...weighed };
  // Embeddings understand words that the training sentences do not contain.
  const unread = read !== undefined || isStated(module, constraints) ? undefined : unreadIn(spans);
  if (unread !== undefined) return { ...judged, ...UNDECIDED, unread };
  const stated = constraints.every((constraint) => constraint.stated);
  const picked = pick(weighed, { feasible, stated, ranking: settings.ranking, narrative: !without.has("narrative") });
  return { ...judged, ...(picked.chosen === undefined ? pickByRanking(judged, settings.ranking) : picked) };
}

/** The file itself says something that does not have to be read from prose. */
function isStated({ only, never }: Module, constraints: readonly Constraint[]): boolean {
  return only !== undefined || never !== undefined || constraints.some(({ stated }) => stated);
}

const UNDECIDED = { chosen: undefined, decidedBy: "nothing", margin: 0 } as const;

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
  return (plain.standings[0]?.weight ?? 0) >= MIN_WEIGHT ? plain : look(FAINT);
}

interface Picking {
  readonly feasible: readonly Features[];
  /** All constraints are stated explicitly in the file. */
  readonly stated: boolean;
  readonly ranking: Maybe<readonly string[]>;
  readonly narrative: boolean;
}

function pick(
  { claims, standings }: Pick<Judgement, "claims" | "standings">,
  { feasible, stated, ranking, narrative }: Picking,
): Pick<Judgement, "chosen" | "decidedBy" | "margin"> {
  const [best, next] = standings;
  if (best === undefined) return UNDECIDED;
  if (next === undefined) return { chosen: best.candidate, decidedBy: "constraints", margin: stated ? 1 : marginOf(best.weight) };
  if (best.weight < MIN_WEIGHT) return UNDECIDED;
  const tied = standings.filter(({ weight }) => best.weight - weight < TIE_WIDTH).map(({ candidate }) => candidate);
  const margin = marginOf(best.weight - next.weight);
  if (tied.length === 1) return { chosen: best.candidate, decidedBy: "priority", margin };
  const leading = narrative ? pickByNarrative(tied, claims) : tied;
  if (leading.length === 1) return { chosen: leading[0], decidedBy: "narrative", margin: 0 };
  return { chosen: lastResort(leading, feasible, ranking), decidedBy: ranking === undefined ? "order" : "ranking", margin: 0 };
}

/**
 * Where needs are named that no candidate is designed for, those that meet them best fit equally: a ranking decides among them,
 * and without one the router abstains.
 */
function pickByRanking(
  { feasible, evidence, constraints }: Pick<Judgement, "feasible" | "evidence" | "constraints">,
  ranking: Maybe<readonly string[]>,
): Pick<Judgement, "chosen" | "decidedBy" | "margin"> {
  if (ranking === undefined) return UNDECIDED;
  const needed = evidence.filter(({ span, share }) => span.stance === "wanted" && share * span.trust >= PLAIN.floor);
  const required = constraints.filter(({ kind, stated }) => kind === "requires" && stated);
  const needs = new Set([...needed, ...required].map(({ capability }) => capability));
  if (needs.size === 0) return UNDECIDED;
  return { chosen: lastResort(alikeByNeeds(feasible, needs), feasible, ranking), decidedBy: "ranking", margin: 0 };
}

/** The candidates that satisfy every hard constraint. */
export function feasibleCandidates(scenario: Scenario, module: Module, settings: RouterSettings = {}): readonly Features[] {
  return judge(scenario, module, settings).feasible;
}
