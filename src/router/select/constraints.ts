import type { Maybe } from "../../envelope/index.js";
import { CAPABILITIES, type CapabilityId, type Features } from "../../protocols/features.js";
import type { Evidence } from "../evidence/capabilities.js";
import type { Module } from "../scenario.js";
import { bindsInProse, isHard } from "./tiers.js";

/** Something a candidate must be able to do, or must not bring with it. */
export interface Constraint {
  readonly kind: "requires" | "avoids";
  readonly capability: CapabilityId;
  /** The file says so in so many words; otherwise it is read from its prose. */
  readonly stated: boolean;
}

/** A candidate that cannot be taken, and why. */
export interface Unfit {
  readonly candidate: Features;
  readonly because: string;
  /** The file names whom it allows, or rules this one out by name. */
  readonly named: boolean;
}

/** How sure a reading must be before it rules anybody out: for what the file demands, what it excludes, and for plain prose. */
const SURE = { demanded: 0.8, excluded: 0.4, prose: 0.85 };

/** What a module demands so clearly that it rules candidates out. */
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
    if (stance === "avoided" && share >= SURE.excluded) add({ kind: "avoids", capability, stated: kind === "mustNot" });
    if (stance !== "wanted" || !isHard(capability)) continue;
    if (kind === "must" && settings.locks && share >= SURE.demanded) add({ kind: "requires", capability, stated: true });
    else if (bindsInProse(capability) && share * span.trust >= SURE.prose) add({ kind: "requires", capability, stated: false });
  }
  return found;
}

/** Why a candidate cannot be taken; undefined where nothing stands against it. */
export function whyIncompatible(candidate: Features, constraints: readonly Constraint[]): Maybe<string> {
  for (const { kind, capability } of constraints) {
    if (kind === "requires" && candidate.support[capability] === undefined) return `cannot carry ${labelOf(capability)}`;
    if (kind === "avoids" && candidate.inherent.includes(capability))
      return `brings ${labelOf(capability)}, which is to be avoided`;
  }
  return undefined;
}

/** Can this protocol carry everything that is demanded? */
export function isProtocolCompatible(candidate: Features, constraints: readonly Constraint[]): boolean {
  return whyIncompatible(candidate, constraints) === undefined;
}

const LABELS: ReadonlyMap<string, string> = new Map(CAPABILITIES.map(({ id, label }) => [id, label]));

/** A capability as people call it. */
export function labelOf(capability: CapabilityId): string {
  return LABELS.get(capability) ?? capability;
}

/** Who can be taken, and who cannot. */
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
