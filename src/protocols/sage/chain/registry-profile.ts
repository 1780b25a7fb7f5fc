import type { RegistryReader } from "../registry/registry.js";
import type { RegistryProfile } from "../settings.js";
import { type AgentCardOptions, AgentCardRegistry } from "./agent-card-registry.js";
import { EvmRegistry } from "./evm-registry.js";

const READERS: { readonly [profile in RegistryProfile]: (options: AgentCardOptions) => RegistryReader } = {
  sage: (options) => new EvmRegistry(options),
  "agent-card": (options) => new AgentCardRegistry(options),
};

/** The registry on a chain, to be read. */
export function openRegistryReader(profile: RegistryProfile, options: AgentCardOptions): RegistryReader {
  return READERS[profile](options);
}
