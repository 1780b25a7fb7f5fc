import { CAPABILITIES, type Capability, type CapabilityId } from "../../protocols/features.js";
import type { Tier } from "../settings.js";

/** Needs whose facet alone would put them elsewhere. */
const BY_NAME: { readonly [id in CapabilityId]?: Tier } = {
  "cross-boundary": "identity",
};

const BY_FACET: { readonly [facet in Capability["facet"]]: Tier } = {
  identity: "identity",
  operations: "operations",
  delivery: "operations",
  governance: "operations",
  interaction: "interaction",
  "long-running": "interaction",
};

const TIERS: ReadonlyMap<string, Tier> = new Map(CAPABILITIES.map(({ id, facet }) => [id, BY_NAME[id] ?? BY_FACET[facet]]));

const HARD: ReadonlySet<string> = new Set(CAPABILITIES.filter((each) => "hard" in each).map(({ id }) => id));

/** A demand for it rules out every protocol that cannot carry it. */
export function isHard(capability: CapabilityId): boolean {
  return HARD.has(capability);
}

/** It rules them out even where only prose asks for it: so do identity and secrecy. The rest are wishes that are weighed. */
export function bindsInProse(capability: CapabilityId): boolean {
  return isHard(capability) && tierOf(capability) === "identity";
}

/** The group of needs a capability is weighed with. */
export function tierOf(capability: CapabilityId): Tier {
  return TIERS.get(capability) ?? "interaction";
}
