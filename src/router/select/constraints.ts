import type { Maybe } from "../../envelope/index.js";
import { CAPABILITIES, type CapabilityId, type Features } from "../../protocols/features.js";
import type { Evidence } from "../evidence/capabilities.js";
import type { Module } from "../scenario.js";
import { bindsInProse, isHard } from "./tiers.js";

/** A capability that a candidate must support, or must not have. */
export interface Constraint {
  readonly kind: "requires" | "avoids";
  readonly capability: CapabilityId;
  /** Stated explicitly in the file; otherwise inferred from its prose. */
  readonly stated: boolean;
}

/** An infeasible candidate, and why. */
export interface Unfit {
  readonly candidate: Features;
  readonly because: string;
  /** Excluded by name, by `only` or `never`. */
  readonly named: boolean;
}

/** The share at which a reading excludes candidates: for explicit demands, exclusions and plain prose. */
const THRESHOLDS = { demanded: 0.8, excluded: 0.4, prose: 0.85 };

/** The constraints of a module: what excludes candidates. */
export function constraintsOf(
  module: Module,
  evidence: readonly Evidence[],
  settings: { readonly locks: boolean },
): readonly Constraint[] {
  const found: Constraint[] = [];
  const add = (constraint: Constraint): void => {
    if (!found.some(({ kind, capability }) => kind === constraint.kind && capability === constraint.capability))
      found.push(constraint);
  };
  if (settings.locks) {
    for (const capability of module.requires ?? []) add({ kind: "requires", capability, stated: true });
    for (const capability of module.avoids ?? []) add({ kind: "avoids", capability, stated: true });
  }
  for (const { span, capability, share } of evidence) {
    const { kind, stance } = span;
    if (stance === "avoided" && share >= THRESHOLDS.excluded) add({ kind: "avoids", capability, stated: kind === "mustNot" });
    if (stance !== "wanted" || !isHard(capability)) continue;
    if (kind === "must" && settings.locks && share >= THRESHOLDS.demanded) add({ kind: "requires", capability, stated: true });
    else if (bindsInProse(capability) && share * span.trust >= THRESHOLDS.prose)
      add({ kind: "requires", capability, stated: false });
  }
  return found;
}

/** Why a candidate is infeasible; undefined if it is feasible. */
export function whyIncompatible(candidate: Features, constraints: readonly Constraint[]): Maybe<string> {
  for (const { kind, capability } of constraints) {
    if (kind === "requires" && candidate.support[capability] === undefined) return `cannot carry ${labelOf(capability)}`;
    if (kind === "avoids" && candidate.inherent.includes(capability))
      return `brings ${labelOf(capability)}, which is to be avoided`;
  }
  return undefined;
}

/** Whether a candidate satisfies all constraints. */
export function isProtocolCompatible(candidate: Features, constraints: readonly Constraint[]): boolean {
  return whyIncompatible(candidate, constraints) === undefined;
}

const LABELS: ReadonlyMap<string, string> = new Map(CAPABILITIES.map(({ id, label }) => [id, label]));

/** The human-readable name of a capability. */
export function labelOf(capability: CapabilityId): string {
  return LABELS.get(capability) ?? capability;
}

/** Splits the candidates into feasible and infeasible ones. */
export function reduceCandidates(
  candidates: readonly Features[],
  module: Module,
  constraints: readonly Constraint[],
  settings: { readonly locks: boolean },
): { readonly feasible: readonly Features[]; readonly unfit: readonly Unfit[] } {
  const named = (candidate: Features): Maybe<string> => (settings.locks ? whyRuledOut(candidate, module) : undefined);
  const unfit = candidates.flatMap((candidate): readonly Unfit[] => {
    const because = named(candidate) ?? whyIncompatible(candidate, constraints);
    return because === undefined ? [] : [{ candidate, because, named: named(candidate) !== undefined }];
  });
  const isFeasible = (candidate: Features): boolean =>
    named(candidate) === undefined && isProtocolCompatible(candidate, constraints);
  return { feasible: candidates.filter(isFeasible), unfit };
}

function whyRuledOut({ name }: Features, { only, never }: Module): Maybe<string> {
  if (only !== undefined && !only.includes(name)) return "is not among those the file allows";
  return never?.includes(name) === true ? "is ruled out by the file" : undefined;
}
