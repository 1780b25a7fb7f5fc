import { AgentError, type Maybe } from "../../../envelope/index.js";
import type { CommandOption, CommandOutput, CommandTools } from "../../protocol.js";
import type { AgentCardOptions } from "../chain/agent-card-registry.js";
import { EvmRegistry } from "../chain/evm-registry.js";
import { openRegistryReader } from "../chain/registry-profile.js";
import type { SageDid } from "../identity/did-sage.js";
import { EmbeddedRegistry } from "../registry/embedded.js";
import type { Registry, RegistryReader } from "../registry/registry.js";
import { isRegistryProfile, REGISTRY_PROFILES, type RegistryProfile } from "../settings.js";

/** What names the registry of a command. */
export const REGISTRY_OPTIONS: readonly CommandOption[] = [
  { flags: "--rpc <url>", about: "a node of the chain; without it the registry is the embedded one of --data or --store" },
  { flags: "--registry <address>", about: "the registry contract on the chain" },
  { flags: "--registry-profile <name>", about: "sage (default), or agent-card: an existing AgentCardRegistry, to be read only" },
];
export const FROM_BLOCK: CommandOption = {
  flags: "--registry-from-block <number>",
  about: "the block in which an AgentCardRegistry was deployed; default 0",
};

interface OnChain {
  readonly profile: RegistryProfile;
  readonly options: AgentCardOptions;
}

/** Reads the registry of the options: on a chain, or the embedded one in the store. */
export async function withReader(
  did: SageDid,
  tools: CommandTools,
  use: (registry: RegistryReader) => Promise<CommandOutput>,
): Promise<CommandOutput> {
  const place = onChain(did, tools);
  if (place === undefined) return use(embedded(did, tools));
  const reader = openRegistryReader(place.profile, place.options);
  try {
    return await use(reader);
  } finally {
    await reader.close?.();
  }
}

/** As `withReader`, for changes. On a development chain the account gets what they cost. */
export async function withRegistry(
  did: SageDid,
  tools: CommandTools,
  use: (registry: Registry) => Promise<CommandOutput>,
): Promise<CommandOutput> {
  const place = onChain(did, tools);
  if (place === undefined) return use(embedded(did, tools));
  if (place.profile !== "sage")
    throw usage(
      `a registry of the profile ${place.profile} is read only here: koine sage show reads it; change it with the tools it was registered with`,
    );
  const registry = new EvmRegistry(place.options);
  try {
    if (did.network === "local") await registry.fund(did.account);
    return await use(registry);
  } finally {
    await registry.close();
  }
}

function embedded({ network }: SageDid, { records }: CommandTools): Registry {
  return new EmbeddedRegistry(records, { network, now: Date.now });
}

/** Undefined: the embedded registry. */
function onChain({ network }: SageDid, { hasStore, options }: CommandTools): Maybe<OnChain> {
  const { rpc, registry, registryFromBlock: fromBlock } = options;
  const profile = profileOf(options);
  if (rpc === undefined && registry === undefined) {
    if (profile !== "sage") throw usage(`the registry profile ${profile} is on a chain: give --rpc URL and --registry ADDRESS`);
    if (hasStore) return undefined;
    throw usage(
      "no registry was given: give --data DIR or --store redis://… for the embedded one, or --rpc URL and --registry ADDRESS",
    );
  }
  if (rpc === undefined || registry === undefined)
    throw usage("a registry on a chain needs both --rpc URL and --registry ADDRESS");
  if (hasStore) throw usage("--data and --store are for the embedded registry; --rpc names one on a chain: give one of them");
  return { profile, options: { network, rpc, registry: registry.toLowerCase(), fromBlock: blockOf(fromBlock) } };
}

export function profileOf({ registryProfile: profile = "sage" }: CommandTools["options"]): RegistryProfile {
  if (isRegistryProfile(profile)) return profile;
  throw usage(`there is no registry profile ${JSON.stringify(profile.slice(0, 50))}; known are ${REGISTRY_PROFILES.join(", ")}`);
}

function blockOf(text: Maybe<string>): Maybe<number> {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usage("--registry-from-block takes the number of a block");
}

export function usage(message: string): AgentError {
  return new AgentError("invalid_message", message, { sent: "no" });
}
