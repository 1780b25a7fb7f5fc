import { connectRewriting, type RemoteAgent } from "../client/connect.js";
import type { ConnectOptions } from "../client/resolve-peer.js";
import {
  AgentError,
  type Call,
  type Card,
  type Loss,
  type Maybe,
  type Operation,
  RecentMap,
  type Requirement,
  systemIds,
} from "../envelope/index.js";
import { type Clock, systemClock } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import type { IdSource } from "../protocols/protocol.js";
import { traitsOf } from "../protocols/traits.js";
import { createPseudonymizer, newSecret } from "../security/index.js";
import { type Agent, type AgentHealth, agent } from "../server/agent.js";
import { adoptTasks } from "./adopt.js";
import type { AdoptContext } from "./adopt-context.js";
import { cancelAdopted, closeAdoptedSession } from "./cancel-adopted.js";
import { bridgedCard, type CardPolicy } from "./card-policy.js";
import { emulationMarks, emulationRefused } from "./emulation.js";
import { forwardAuthored } from "./forward-authored.js";
import { LossCounter, type LossReport } from "./loss-report.js";
import { relayTasks } from "./relay.js";
import type { Upstream } from "./upstream.js";
import { UpstreamAddressRewriter } from "./upstream-address.js";
import { type CallerSharing, type SharedCallers, sharingCallers } from "./upstream-credentials.js";
import { credentialSeal } from "./upstream-credentials-seal.js";
import { UpstreamShares } from "./upstream-shares.js";

const CALLERS_NAMED = 1_000;

/** How a gateway serves an upstream. */
export interface BridgeSettings extends CallerSharing {
  /** Its name at the gateway, part of addresses. Default: derived from the name on its card. */
  readonly name?: Maybe<string>;
  /**
   * `adopt`: the gateway owns the tasks; the upstream never sees ids, sessions and keys of callers. `relay`: everything is
   * passed unchanged, for one trust domain. Default: `adopt`.
   */
  readonly mode?: Maybe<"adopt" | "relay">;
  /** Rejects what the upstream does not support instead of emulating it. */
  readonly strict?: Maybe<boolean>;
  /**
   * Default: `rewrite+resign` if the gateway has keys, else `rewrite+strip`. With `verbatim` the upstream serves the same paths
   * below its own address as its card names below `publicUrl`.
   */
  readonly card?: Maybe<CardPolicy>;
  /**
   * The key for pseudonyms and stored credentials, at least 16 bytes, the same for all gateways that share a store.
   * Default: generated at start.
   */
  readonly secret?: Maybe<Uint8Array>;
  /**
   * Concurrent calls of one authenticated caller to the upstream, over all its tenants, in adopt mode; more are refused with `overloaded`.
   * A call that was dropped counts while its work may continue there. Default: 10,000.
   */
  readonly callsPerCaller?: Maybe<number>;
  /** The security that callers must bring; others are refused. Default: none. */
  readonly require?: Maybe<readonly Requirement[]>;
  /** The gateway signs its cards. */
  readonly signsCards?: Maybe<boolean>;
  /** The address callers use for the gateway, where it is fixed. */
  readonly publicUrl?: Maybe<string>;
  /** The time source. Default: the system clock. */
  readonly clock?: Maybe<Clock>;
  /** The id source. Default: random ids. */
  readonly ids?: Maybe<IdSource>;
  /** A number from 0 up to 1, for retry jitter. Default: `Math.random`. */
  readonly random?: Maybe<() => number>;
}

/** Options of `bridge`. */
export interface BridgeOptions extends ConnectOptions {
  readonly as?: string;
  /** How the peer is served. Default: adopt mode with the rewritten card. */
  readonly bridge?: BridgeSettings;
}

/** A peer as a local agent: `serve` serves it in every protocol. */
export interface BridgedAgent extends Agent {
  /** What could not be translated so far. */
  readonly losses: LossReport;
  /** Notes for the operator: a removed signature, for example. */
  readonly notes: readonly string[];
}

/** A bridged peer with its connection. */
export interface Bridge extends BridgedAgent {
  readonly upstream: RemoteAgent;
  /** Closes the connection to the peer. Close the server first. */
  close(): Promise<void>;
}

/** Discovers a peer and makes it an agent that can be served in every other protocol. */
export async function bridge(url: string, { bridge: settings = {}, ...options }: BridgeOptions = {}): Promise<Bridge> {
  const rewriter = rewriterOf(url, settings);
  const shared = sharingCallers(url, options, settings);
  const upstream = await connectRewriting(url, shared.options, rewriter?.address).catch(async (thrown: unknown) => {
    if (options.link === undefined) await shared.options.link?.close();
    throw thrown;
  });
  const known = options.protocols ?? registered;
  try {
    shared.check(upstream.card);
    const protocol = () => {
      const found = known.find(({ id }) => id === upstream.protocol);
      if (found === undefined) throw new AgentError("internal", `protocol ${upstream.protocol} is not registered`);
      return found;
    };
    const upstreamUrls = [url, ...upstream.interfaces.map((each) => rewriter?.address(each.url) ?? each.url)];
    const bridged = bridgedAgent(
      {
        handler: upstream.handler,
        protocol: () => upstream.protocol,
        traits: () => traitsOf(protocol(), upstream.version, upstream.binding),
        card: () => upstream.card,
        peer: () => upstream,
      },
      { signed: upstream.cardTrust !== "unsigned", upstreamUrls, timeoutMs: options.timeoutMs, callers: shared },
      { ...settings, clock: settings.clock ?? options.clock, ids: settings.ids ?? options.ids },
    );
    const health = (signal: AbortSignal): Promise<AgentHealth> =>
      upstreamHealth(upstream, bridged.sendsCredentialsOn === true, signal);
    return Object.assign(bridged, { upstream, health, close: () => upstream.close() });
  } catch (thrown) {
    await upstream.close();
    throw thrown;
  }
}

/** With forwarded credentials the bridge has none of its own: a rejected ping still proves that the upstream is up. */
async function upstreamHealth(upstream: RemoteAgent, forwards: boolean, signal: AbortSignal): Promise<AgentHealth> {
  try {
    await upstream.ping(signal);
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    if (code !== "unauthenticated" || !forwards) return { usable: false, problems: [`${upstream.url}: ${message}`] };
  }
  return { usable: true, problems: [] };
}

/** Only a verbatim card names the gateway instead of the upstream. */
function rewriterOf(url: string, { card, publicUrl }: BridgeSettings): Maybe<UpstreamAddressRewriter> {
  if (card !== "verbatim" || publicUrl === undefined || !URL.canParse(url) || !URL.canParse(publicUrl)) return undefined;
  return new UpstreamAddressRewriter(publicUrl, url);
}

/** What is known of the upstream beside its handler. */
export interface BridgeFacts {
  /** Its card has signatures. */
  readonly signed: boolean;
  /** Its addresses. */
  readonly upstreamUrls: readonly string[];
  /** Timeout of one attempt, with everything that follows a lost connection. Default: none. */
  readonly timeoutMs?: Maybe<number>;
  /** What it is shown of callers. Default: nothing. */
  readonly callers?: Maybe<Pick<SharedCallers, "sendsCredentialsOn" | "notes">>;
}

/** Any handler as a local agent: several peers behind a load balancer, for example. */
export function bridgedAgent(upstream: Upstream, known: BridgeFacts, settings: BridgeSettings): BridgedAgent {
  const { mode = "adopt", strict = false, signsCards = false, publicUrl } = settings;
  const { signed, upstreamUrls, callers = { sendsCredentialsOn: false, notes: [] } } = known;
  const name = settings.name ?? nameFrom(upstream.card().name);
  const policy = settings.card ?? (signsCards ? "rewrite+resign" : "rewrite+strip");
  const counter = new LossCounter();
  const protocol = upstream.protocol();
  const facts = { name, protocol, policy, signed, canSign: signsCards, publicUrl, upstreamUrls, adopted: mode === "adopt" };
  const { card, downgrade, losses } = bridgedCard(upstream.card(), facts);
  for (const loss of losses) counter.add(loss);
  // An extended card is part of an answer, which is always rewritten.
  const rewriteCard = (each: Card): Card => bridgedCard(each, { ...facts, policy: "rewrite+strip" }).card;
  const { secret = newSecret(), ids = systemIds, clock = systemClock } = settings;
  const shares = new UpstreamShares(clock, settings.callsPerCaller);
  const context: AdoptContext = {
    upstream,
    shares,
    pseudonymize: createPseudonymizer(name, secret),
    callerNames: new RecentMap(CALLERS_NAMED),
    credentials: callers.sendsCredentialsOn ? credentialSeal(name, secret, () => ids.now()) : undefined,
    reportLoss: (loss) => counter.add(loss),
    timeoutMs: known.timeoutMs,
    ids,
    clock,
    random: settings.random ?? Math.random,
  };
  const relayed = relayTasks(upstream, rewriteCard);
  const downgrades = downgrade === undefined ? [] : [downgrade];
  const made = agent({ name, description: card.description, handle: adoptTasks(context) });
  return {
    ...made,
    card,
    restartable: true,
    require: settings.require,
    hasExtendedCard: card.capabilities.extended,
    losses: counter,
    notes: [...callers.notes, ...downgrades, ...cautions(known, settings, policy)],
    downgrades,
    sendsCredentialsOn: callers.sendsCredentialsOn,
    upstreamUrls,
    // In a session that is passed on, callers present no credentials that could be forwarded.
    relayed: () => (mode === "relay" && !callers.sendsCredentialsOn ? upstream.peer?.() : undefined),
    onLoss: (loss: Loss) => counter.add(loss),
    cancel: cancelAdopted(context),
    forward: forwardAuthored(context),
    taskMetadata: (operation) => emulationMarks(upstream, operation),
    answers(operation: Operation, call) {
      const refused = anonymousRefusal(operation, call, { mode, card, sendsCredentialsOn: callers.sendsCredentialsOn });
      if (refused !== undefined) return Promise.reject(refused);
      if (operation.kind === "send") counter.messages++;
      if (mode === "relay") return relayed(operation, call);
      const full = operation.kind === "send" ? shares.refusal(call.caller.owner) : undefined;
      if (full !== undefined) return Promise.reject(full);
      if (operation.kind === "card" && operation.extended && card.capabilities.extended) return relayed(operation, call);
      if (strict && operation.kind === "send") {
        const unable = emulationRefused(upstream, operation.delivery);
        if (unable !== undefined) return Promise.reject(unable);
      }
      return operation.kind === "session.close" ? closeAdoptedSession(context, operation.sessionId, call) : undefined;
    },
  };
}

/** Warnings for the operator. */
function cautions({ callers }: BridgeFacts, { secret }: BridgeSettings, policy: CardPolicy): readonly string[] {
  return [
    ...(callers?.sendsCredentialsOn === true && secret === undefined
      ? ["no secret is configured: tasks that outlive this process lose their callers' credentials"]
      : []),
    ...(policy === "verbatim"
      ? ["the card is served verbatim: its security schemes must be those of this gateway, not of the upstream"]
      : []),
  ];
}

/**
 * All anonymous callers are one owner. Where the upstream distinguishes callers, they could read each other's tasks. The
 * extended card is for authenticated callers only.
 */
function anonymousRefusal(
  operation: Operation,
  { caller, credential }: Call,
  {
    mode,
    card,
    sendsCredentialsOn,
  }: { readonly mode: "adopt" | "relay"; readonly card: Card; readonly sendsCredentialsOn: boolean },
): Maybe<AgentError> {
  if (caller.scheme !== "anonymous") return undefined;
  if (operation.kind === "card" && operation.extended && card.capabilities.extended && credential === undefined)
    return new AgentError("unauthenticated", "the extended card is for authenticated callers");
  if (!sendsCredentialsOn || mode === "relay" || operation.kind === "card" || operation.kind === "ping") return undefined;
  return new AgentError(
    "unauthenticated",
    "callers' credentials are forwarded to the upstream agent, and this gateway does not authenticate its callers",
  );
}

/** Derives a name for addresses from the name on a card. */
export function nameFrom(title: string): string {
  const name = title
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+|-+$/g, "")
    .slice(0, 64)
    .toLowerCase();
  return name === "" ? "agent" : name;
}
