import type { RegistryReader } from "../registry/registry.js";
import { type AgentCardOptions, AgentCardRegistry } from "./agent-card-registry.js";
import { EvmRegistry } from "./evm-registry.js";

/** The contracts that can be read: ours, and the existing AgentCardRegistry. Only ours can be changed. */
const READERS = {
  sage: (options: AgentCardOptions) => new EvmRegistry(options),
  "agent-card": (options: AgentCardOptions) => new AgentCardRegistry(options),
} as const satisfies Record<string, (options: AgentCardOptions) => RegistryReader>;

export type RegistryProfile = keyof typeof READERS;

export const REGISTRY_PROFILES = Object.keys(READERS) as readonly RegistryProfile[];

export function isRegistryProfile(name: string): name is RegistryProfile {
  return Object.hasOwn(READERS, name);
}

/** The registry on a chain, to be read. */
export function openRegistryReader(profile: RegistryProfile, options: AgentCardOptions): RegistryReader {
  return READERS[profile](options);
}
