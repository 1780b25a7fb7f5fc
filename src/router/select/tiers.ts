import { CAPABILITIES, type Capability, type CapabilityId } from "../../protocols/features.js";
import type { Tier } from "../settings.js";

/** Exceptions to the tier of a facet. */
const BY_NAME: { readonly [id in CapabilityId]?: Tier } = {
  "cross-boundary": "identity",
  // Ordinary sign-in is a condition of most modules and the point of few: it decides only where nothing else does.
  "enterprise-auth": "interaction",
  "mutual-tls": "interaction",
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

/** Whether a need for it excludes every protocol without support. */
export function isHard(capability: CapabilityId): boolean {
  return HARD.has(capability);
}

/** Whether prose alone makes it a constraint: only for hard needs of the identity tier. */
export function bindsInProse(capability: CapabilityId): boolean {
  return isHard(capability) && tierOf(capability) === "identity";
}

/** The group of needs a capability is weighed with. */
export function tierOf(capability: CapabilityId): Tier {
  return TIERS.get(capability) ?? "interaction";
}
