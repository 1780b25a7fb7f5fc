import type { Maybe, Records } from "../../../envelope/index.js";
import { openRegistryReader } from "../chain/registry-profile.js";
import { EmbeddedRegistry } from "../registry/embedded.js";
import type { RegistryReader } from "../registry/registry.js";
import type { SageSettings } from "../settings.js";
import { DEFAULT_DID_CACHE_LIMITS, DidCache } from "./did-cache.js";
import { isNetwork, NETWORKS, type Network } from "./did-sage.js";

/** Resolves by the registry on a chain of the settings, whose changes are watched, and for other networks by the embedded one of the store. */
export function configuredCache({ chain, recordMs }: SageSettings, records: Maybe<Records>): DidCache {
  const onChain: readonly RegistryReader[] = chain === undefined ? [] : [openRegistryReader(chain.profile, chain)];
  const others = Object.keys(NETWORKS).filter((name): name is Network => isNetwork(name) && name !== chain?.network);
  const embedded =
    records === undefined ? [] : others.map((network) => new EmbeddedRegistry(records, { network, now: Date.now }));
  return new DidCache({
    registries: [...onChain, ...embedded],
    watched: onChain.map(({ network }) => network),
    limits: { ttlMs: recordMs, failureMs: Math.min(recordMs, DEFAULT_DID_CACHE_LIMITS.failureMs) },
  });
}
