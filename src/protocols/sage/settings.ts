import { AgentError, type Json, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { SettingInfo } from "../protocol.js";
import type { HandshakeForm } from "./handshake/index.js";
import { isNetwork, NETWORKS, type Network, parseSageDid } from "./identity/did-sage.js";

/** The longest delay of a revocation, unless changes are watched. */
const RECORD_MS = 5_000;

/** The contracts that can be read: ours, and the existing AgentCardRegistry. Only ours can be changed. */
export const REGISTRY_PROFILES = ["sage", "agent-card"] as const;

export type RegistryProfile = (typeof REGISTRY_PROFILES)[number];

export function isRegistryProfile(name: unknown): name is RegistryProfile {
  return REGISTRY_PROFILES.some((each) => each === name);
}

/** A registry on a chain. */
export interface ChainSettings {
  readonly network: Network;
  readonly rpc: string;
  readonly registry: string;
  readonly profile: RegistryProfile;
  /** The block in which an AgentCardRegistry was deployed. */
  readonly fromBlock: number;
}

/** The settings of SAGE. */
export interface SageSettings {
  readonly chain: Maybe<ChainSettings>;
  /** How long a record of a registry is used before it is read again. */
  readonly recordMs: number;
  /** The DID that the called agent must prove. */
  readonly peer: Maybe<string>;
  /** Contents are sealed in a session, if the agent has sessions. */
  readonly seal: boolean;
  readonly handshake: HandshakeForm;
  /** The DID of the gateway through which the agent is called: it signs the answers of HTTP, and the agent its messages. */
  readonly gateway: Maybe<string>;
  /** The DIDs of gateways that may bring messages of others. */
  readonly relays: readonly string[];
  /** Messages for other DIDs are passed on unopened: this server is a gateway. */
  readonly passOn: boolean;
  /** The protocols that carry SAGE: a server has it over these, a client looks for it over these, in this order. */
  readonly over: Maybe<readonly string[]>;
}

/** The settings, for the protocols that SAGE can be over. */
export function settingsOver(names: readonly string[]): readonly SettingInfo[] {
  const about = `the protocols that carry SAGE, with commas between them: ${names.join(", ")}; a server has it over ${names[0]} by default, a client looks for it over all`;
  return [...SETTINGS, { name: "over", kind: "text", example: names.slice(-2).join(","), about }];
}

const SETTINGS: readonly SettingInfo[] = [
  {
    name: "rpc",
    kind: "text",
    example: "http://127.0.0.1:8545",
    about: "the node of the chain with the registry; by default the embedded registry in the store is used",
  },
  { name: "registry", kind: "text", example: "0x5fbd…", about: "the address of the registry contract on that chain" },
  { name: "network", kind: "text", example: "sepolia", about: `the network of that chain: ${Object.keys(NETWORKS).join(", ")}` },
  {
    name: "registryProfile",
    kind: "text",
    example: "agent-card",
    about: "the kind of that contract: sage, or agent-card for an existing AgentCardRegistry; sage by default",
  },
  {
    name: "registryFromBlock",
    kind: "number",
    example: "7000000",
    about: "the block in which an AgentCardRegistry was deployed; 0 by default",
  },
  {
    name: "recordMs",
    kind: "number",
    example: "1000",
    about: `how long a record is used before it is read again, and so how late a revocation acts; ${RECORD_MS} by default`,
  },
  {
    name: "peer",
    kind: "text",
    example: "did:sage:local:0x…",
    about: "the DID that the called agent must prove, by SAGE alone; by default the one that is called, or that its card names",
    namesPeer: true,
  },
  {
    name: "seal",
    kind: "boolean",
    example: "false",
    about: "seal what is sent in a session; true by default, and then nothing is sent to an agent with sessions outside of one",
  },
  {
    name: "handshake",
    kind: "text",
    example: "four-phase",
    about: "how sessions are made: hpke, in one round trip, or four-phase, in two; hpke by default",
  },
  {
    name: "gateway",
    kind: "text",
    example: "did:sage:local:0x…",
    about: "the DID of a gateway in front of the called agent, which signs the answers of HTTP; by default there is none",
  },
  {
    name: "relays",
    kind: "text",
    example: "did:sage:local:0x…,did:sage:local:0x…",
    about: "the DIDs of gateways that may bring messages signed by others, with commas between them; none by default",
  },
  {
    name: "passOn",
    kind: "boolean",
    example: "true",
    about: "a gateway passes messages for other DIDs on, unopened; false by default: they are refused",
  },
];

/** The settings of the user, validated. */
export function readSettings(given: Maybe<JsonObject>): SageSettings {
  const { recordMs = RECORD_MS, relays = "", passOn = false, seal = true, handshake = "hpke" } = given ?? {};
  if (typeof seal !== "boolean") throw invalid("seal", "must be true or false");
  if (typeof passOn !== "boolean") throw invalid("passOn", "must be true or false");
  const hops = {
    peer: didIn(given, "peer"),
    gateway: didIn(given, "gateway"),
    relays: listed(relays),
    over: overIn(given?.["over"]),
    passOn,
    seal,
    handshake: formOf(handshake),
  };
  if (typeof recordMs !== "number" || !(recordMs >= 0)) throw invalid("recordMs", "must be milliseconds");
  return { chain: chainIn(given ?? {}), recordMs, ...hops };
}

function chainIn({ rpc, registry, network = "local", registryProfile, registryFromBlock }: JsonObject): Maybe<ChainSettings> {
  if (typeof network !== "string" || !isNetwork(network))
    throw invalid("network", `must be one of ${Object.keys(NETWORKS).join(", ")}`);
  const { profile, fromBlock } = profileOf(registryProfile, registryFromBlock);
  if (rpc === undefined && registry === undefined && profile === "sage") return undefined;
  if (typeof rpc !== "string" || typeof registry !== "string")
    throw invalid(typeof rpc === "string" ? "registry" : "rpc", "is missing: a registry on a chain needs rpc and registry");
  return { network, rpc, registry: registry.toLowerCase(), profile, fromBlock };
}

function profileOf(profile: Json = "sage", fromBlock: Json = 0): Pick<ChainSettings, "profile" | "fromBlock"> {
  if (!isRegistryProfile(profile)) throw invalid("registryProfile", `must be one of ${REGISTRY_PROFILES.join(", ")}`);
  if (typeof fromBlock !== "number" || !Number.isSafeInteger(fromBlock) || fromBlock < 0)
    throw invalid("registryFromBlock", "must be the number of a block");
  return { profile, fromBlock };
}

function formOf(name: Json): HandshakeForm {
  if (name === "hpke" || name === "four-phase") return name;
  throw invalid("handshake", "must be hpke or four-phase");
}

function didIn(given: Maybe<JsonObject>, name: "peer" | "gateway"): Maybe<string> {
  const did = given?.[name];
  if (did === undefined) return undefined;
  if (typeof did !== "string" || parseSageDid(did) === undefined) throw invalid(name, "must be a did:sage");
  return did;
}

/** Which protocols there are is not known here. */
function overIn(given: Maybe<Json>): Maybe<readonly string[]> {
  if (given === undefined) return undefined;
  const names = itemsOf(given);
  if (names === undefined || names.length === 0 || !names.every((each): each is string => typeof each === "string"))
    throw invalid("over", "must be names of protocols with commas between them");
  return [...new Set(names)];
}

/** Undefined if it is no list. */
function itemsOf(list: Json): Maybe<readonly Json[]> {
  const items = typeof list === "string" ? list.split(",").map((each) => each.trim()) : list;
  return Array.isArray(items) ? items.filter((each) => each !== "") : undefined;
}

function listed(relays: Json): readonly string[] {
  const named = itemsOf(relays);
  if (named === undefined) throw invalid("relays", "must be DIDs with commas between them");
  if (!named.every((each): each is string => typeof each === "string" && parseSageDid(each) !== undefined))
    throw invalid("relays", "must be DIDs of SAGE");
  return named;
}

function invalid(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `sage.${field} ${problem}`, { field, sent: "no" });
}
