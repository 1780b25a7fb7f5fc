import { resolverFor } from "../../../client/did-resolvers.js";
import type { ConnectOptions } from "../../../client/index.js";
import {
  AgentError,
  type JsonObject,
  type Maybe,
  type ReplayGuard,
  type Requirement,
  recordsBelow,
} from "../../../envelope/index.js";
import { openIdentity } from "../../../security/identity/identity-file.js";
import type { Identity } from "../../../security/identity/index.js";
import { createReplayGuard } from "../../../security/replay/index.js";
import type { ServeOptions } from "../../../server/index.js";
import { createMemoryStore, type Store } from "../../../tasks/index.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { configuredCache } from "../identity/configured-registries.js";
import type { DidCache } from "../identity/did-cache.js";
import { checkedSageDid, type Network } from "../identity/did-sage.js";
import { readSettings } from "../settings.js";
import { PROTOCOL } from "../wire.js";
import { A2AProtocol, PLAIN } from "./a2a-protocol.js";
import { newMessage } from "./message.js";
import { checkPolicy, type SagePolicy } from "./policy.js";
import { requireSeenPeers } from "./required-peers.js";
import { SAGEProtocol, type SageProtocolOptions, SECURED_FLOOR, SERVED, securedOptions } from "./sage-protocol.js";
import { SeenPeers } from "./seen-peers.js";
import { ProtocolA2A, type ProtocolMode, ProtocolSAGE, ProtocolSelector } from "./selector.js";
import { MessageVerifier } from "./verify.js";

/** Ethereum's main chain. */
export const NetworkEthereum: Network = "ethereum";
/** Kaia's main chain. */
export const NetworkKaia: Network = "kaia";

/** The identity of an agent, and where the records of others are. */
export interface SageOptions {
  /** The DID of this agent: that of its identity. */
  readonly did: string;
  /** The network of the DID. */
  readonly network: Network;
  /** The identity, or its file, made by `koine sage create`. Default: the file that the environment variable `KOINE_IDENTITY` names. */
  readonly identity?: Maybe<Identity | string>;
  /**
   * The registry contract: a node of its chain and its address. Default: those in the environment variables `KOINE_SAGE_RPC` and
   * `KOINE_SAGE_REGISTRY`; without them the embedded registry in the store.
   */
  readonly registry?: Maybe<{ readonly rpc: string; readonly address: string }>;
  /** Keeps tasks, the embedded registry, and which agents use SAGE. Default: in memory. */
  readonly store?: Maybe<Store>;
  /** Accepts each signed message once. Default: that of the store; the one in memory refuses what was signed before the start. */
  readonly replay?: Maybe<ReplayGuard>;
  readonly policy?: Maybe<SagePolicy>;
  /** Further settings of SAGE, for example `{ recordMs: 1000 }`. */
  readonly settings?: Maybe<JsonObject>;
  /** Options of outgoing connections, for example credentials. */
  readonly connect?: SageProtocolOptions["connect"];
}

/** Options of SAGE that an agent can do without. */
export interface OptionalSage {
  readonly optional: true;
  readonly sage: Maybe<SageOptions>;
}

/** SAGE where the other side offers or asks for it. Without options the agent has no identity, and refuses what asks for SAGE. */
export function optional(sage?: SageOptions): OptionalSage {
  return { optional: true, sage };
}

/** What `agent`, `serve` and `connect` take for a mode. */
export interface KoineOptions {
  readonly agent: { readonly require?: readonly Requirement[] };
  readonly serve: Pick<ServeOptions, "protocols" | "identity" | "settings" | "store" | "layers" | "replay">;
  /** Selects the protocol for an address or a DID, and returns the options of `connect` for it. */
  connect(to: string): Promise<ConnectOptions>;
}

/** Everything that an agent of these options sends and verifies with. */
export interface Messaging {
  readonly selector: ProtocolSelector;
  readonly a2a: A2AProtocol;
  readonly sage: Maybe<SAGEProtocol>;
  readonly verifier: Maybe<MessageVerifier>;
  readonly options: KoineOptions;
}

/** The options of `agent`, `serve` and `connect` for a mode: `serve(agent({ … }), (await koineOptions(ProtocolAuto, sage)).serve)`. */
export async function koineOptions(mode: ProtocolMode, sage?: SageOptions | OptionalSage): Promise<KoineOptions> {
  return (await openMessaging(mode, sage)).options;
}

/** Throws for options that do not fit together. */
export function checkOptions(mode: ProtocolMode, given: Maybe<SageOptions | OptionalSage>): Maybe<SageOptions> {
  const own = given !== undefined && "optional" in given ? given.sage : given;
  if (own === undefined) {
    if (mode === ProtocolSAGE) throw invalid("withSAGE", "SAGE needs the DID and the identity of this agent");
    return undefined;
  }
  if (mode === ProtocolA2A) throw invalid("withSAGE", "an agent that uses A2A only has no identity of SAGE: use ProtocolAuto");
  const { network } = checkedSageDid(own.did);
  if (network !== own.network) throw invalid("network", `${own.did} is one of ${network}, not of ${own.network}`);
  const policy = own.policy ?? {};
  checkPolicy(policy);
  const isOptional = given !== undefined && "optional" in given;
  return isOptional ? { ...own, policy: { mode: "preferred", ...policy } } : own;
}

export async function openMessaging(mode: ProtocolMode, given: Maybe<SageOptions | OptionalSage>): Promise<Messaging> {
  const own = checkOptions(mode, given);
  const a2a = new A2AProtocol(own?.connect);
  if (own === undefined) {
    const selector = new ProtocolSelector({ mode, a2a });
    return { selector, a2a, sage: undefined, verifier: undefined, options: plainOptions(selector) };
  }
  const parts = await openParts(own);
  const sage = new SAGEProtocol(parts);
  const { policy } = own;
  const selector = new ProtocolSelector({ mode, a2a, sage, policy, seen: parts.seen });
  const verifier = new MessageVerifier({ did: parts.identity.did, resolver: parts.resolver, replay: parts.replay });
  return { selector, a2a, sage, verifier, options: securedKoineOptions(selector, parts, isRequired(mode, policy)) };
}

function isRequired(mode: ProtocolMode, policy: Maybe<SagePolicy>): boolean {
  return mode === ProtocolSAGE || (policy?.mode ?? "required") === "required";
}

interface Parts extends SageProtocolOptions {
  readonly settings: JsonObject;
  readonly store: Store;
  readonly replay: ReplayGuard;
}

async function openParts(own: SageOptions): Promise<Parts> {
  const identity = await identityOf(own);
  const store = own.store ?? createMemoryStore({ now: Date.now });
  const settings = settingsOf(own);
  const { records } = store;
  const resolver = resolverFor("loopback", { protocols: SERVED, settings: { [PROTOCOL]: settings }, records });
  const replay =
    own.replay ?? store.replayGuard?.(DEFAULT_LIMITS, Date.now) ?? createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now });
  const seen = own.policy?.pin === "none" ? undefined : new SeenPeers(records, Date.now);
  return { identity, store, settings, records, resolver, replay, seen, connect: own.connect };
}

/** Looks up DIDs in the registry: `resolvePublicKey`, `getAgentInfo`. Records are kept for `settings.recordMs`. */
export function openDidManager(options: Pick<SageOptions, "network" | "registry" | "store" | "settings">): DidCache {
  const records = options.store?.records;
  return configuredCache(readSettings(settingsOf(options)), records && recordsBelow(records, PROTOCOL));
}

function settingsOf({
  registry = environmentRegistry(),
  network,
  settings,
}: Pick<SageOptions, "network" | "registry" | "settings">): JsonObject {
  return { ...settings, ...(registry && { rpc: registry.rpc, registry: registry.address, network }) };
}

function environmentRegistry(): SageOptions["registry"] {
  const { KOINE_SAGE_RPC: rpc = "", KOINE_SAGE_REGISTRY: address = "" } = process.env;
  if (rpc === "" && address === "") return undefined;
  if (rpc === "" || address === "") throw invalid("registry", "KOINE_SAGE_RPC and KOINE_SAGE_REGISTRY belong together: set both");
  return { rpc, address };
}

async function identityOf({ identity = process.env["KOINE_IDENTITY"], did }: SageOptions): Promise<Identity> {
  if (identity === undefined || identity === "")
    throw invalid(
      "identity",
      "the identity is missing: give it, or name its file in KOINE_IDENTITY; koine sage create makes one",
    );
  const own = typeof identity === "string" ? await openIdentity(identity) : identity;
  if (own.did !== did) throw invalid("did", `the identity is that of ${own.did}, not of ${did}`);
  return own;
}

/** A server without an identity refuses requests of SAGE: it does not handle them as plain ones. */
function plainOptions(selector: ProtocolSelector): KoineOptions {
  return {
    agent: {},
    serve: { protocols: SERVED },
    async connect(to) {
      await selector.selectProtocol(messageTo(to));
      return { protocols: PLAIN };
    },
  };
}

function securedKoineOptions(selector: ProtocolSelector, parts: Parts, required: boolean): KoineOptions {
  const { identity, settings, store, seen, replay } = parts;
  return {
    agent: required ? { require: SECURED_FLOOR } : {},
    serve: {
      ...{ protocols: SERVED, identity, store, replay, settings: { [PROTOCOL]: settings } },
      ...(seen === undefined ? undefined : { layers: [requireSeenPeers(seen)] }),
    },
    async connect(to) {
      const message = messageTo(to);
      const selected = await selector.selectProtocol(message);
      if (!selected.requiresSecurity) return { protocols: PLAIN };
      const { recipientDid, recipientUrl: url } = message;
      const did = recipientDid ?? (url === undefined ? undefined : await seen?.didAt(url));
      return securedOptions(parts, { did, url });
    },
  };
}

function messageTo(to: string) {
  return newMessage("", to.startsWith("did:") ? { recipientDid: to } : { recipientUrl: to });
}

function invalid(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", problem, { field, sent: "no" });
}
