import { type Handler, type Layer, type LossSink, type Maybe, systemIds } from "../envelope/index.js";
import { type Clock, checkAnswers, deadline, resumeStreams, stack, systemClock } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import type { CardGate, IdSource, Protocol } from "../protocols/protocol.js";
import type { CardTrust } from "../security/index.js";
import { carryTrace, type Edge, noTelemetry, type Telemetry } from "../telemetry/index.js";
import type { Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import { type CheckCard, type CheckedCard, cardChecker, trustedInterfaces } from "./card-trust.js";
import { chosenFirst, feasibleInterfaces, learningBy, type ProtocolChooser } from "./choose-protocol.js";
import { Connection } from "./connection.js";
import { type CredentialLinks, credentialLinks } from "./credential-link.js";
import type { Credentials } from "./credentials.js";
import { candidatesOf, discoverPeer } from "./discovery.js";
import { DiscoveryCache } from "./discovery-cache.js";
import { peerLink } from "./peer-link.js";
import type { Candidate, Shares } from "./pick-interface.js";

/** How to find and call a peer. */
export interface ConnectOptions {
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  /** `a2a`, `a2a@0.3` or `a2a@0.3/JSONRPC`: use only this interface; no other is tried. */
  readonly pin?: string;
  /** Protocols that may be used, by id or name, for example those a routing decision left. Default: all registered ones. */
  readonly feasible?: readonly string[];
  /** Selects the protocol, once per connection, where the peer supports several. Default: the order of the peer's card. */
  readonly chooser?: ProtocolChooser;
  readonly credentials?: Credentials;
  /** Which card signatures are trusted, and whether one is required. Default: none are, and none is. */
  readonly trust?: CardTrust;
  /** Called for everything the selected interface could not carry, in either direction. */
  readonly onLoss?: LossSink;
  /** The time limit of one call, streams included. Default: only the limits of the transport. */
  readonly timeoutMs?: number;
  /** False: interrupted streams are not resumed. Default: resumed where the peer supports it. */
  readonly resume?: boolean;
  /** The time limit of discovery. Default: 10 s. */
  readonly discoverMs?: number;
  /** Policies around every call, outermost first. */
  readonly layers?: readonly Layer[];
  /** The name of the calling agent. */
  readonly as?: string;
  /** The peer's configured name, for metric labels. Default: `other`, never the name on its card. */
  readonly id?: string;
  readonly telemetry?: Telemetry;
  readonly limits?: Limits;
  /** Percentage of sends by protocol and version; can be changed later with `share`. */
  readonly shares?: Shares;
  /** Where discovery results are kept. Default: one cache for the process. */
  readonly discoveryCache?: DiscoveryCache;
  /** The transport. Default: pooled HTTP. */
  readonly link?: Link;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly random?: () => number;
}

const DISCOVER_MS = 10_000;
const sharedCache = new DiscoveryCache();

/** An address with everything needed to discover and call the peer there. */
export interface PeerTarget {
  readonly address: string;
  readonly as: string;
  readonly options: ConnectOptions;
  readonly link: Link;
  /** The links that present credentials, one for each card. */
  readonly credentials: CredentialLinks;
  readonly checkCard: CheckCard;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly discoveryCache: DiscoveryCache;
  /** The key of its discovery result in the cache. */
  readonly key: string;
}

/** A peer after discovery: the connection to call and the evidence for it. */
export interface ResolvedPeer {
  readonly connection: Connection;
  readonly evidence: readonly string[];
  readonly verified: boolean;
  /** The result of checking the signatures of the card in use. */
  readonly cardTrust: CheckedCard["trust"];
}

export function peerTargetOf(address: string, options: ConnectOptions): PeerTarget {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const { credentials: own = {}, clock = systemClock } = options;
  const base = options.link ?? peerLink(address, limits, own.tls);
  const credentials = credentialLinks(base, address, own, () => clock.now());
  return {
    address,
    as: options.as ?? "",
    options,
    link: credentials.plain,
    credentials,
    checkCard: cardChecker(options.trust, base, () => clock.now()),
    ids: options.ids ?? systemIds,
    clock,
    discoveryCache: options.discoveryCache ?? sharedCache,
    key: cacheKey(address, options),
  };
}

/** Uses the cached discovery result while it is fresh, unless `rediscover` is set. */
export async function resolvePeer(target: PeerTarget, rediscover: boolean): Promise<ResolvedPeer> {
  const { address, options, link, clock, discoveryCache, key } = target;
  const { protocols = registered, discoverMs = DISCOVER_MS } = options;
  const cached = discoveryCache.get(key, clock.now());
  const discovered =
    cached?.fresh === true && !rediscover
      ? cached.result
      : await discoverPeer(address, {
          protocols,
          link,
          clock,
          discoverMs,
          known: cached?.result,
          check: gateOf(target),
          pin: options.pin,
        });
  discoveryCache.put(key, discovered);
  // The cache is shared by the process, trust settings are not: the card is checked for every target.
  const trusted = await trustedInterfaces(
    feasibleInterfaces(candidatesOf(discovered, options.pin), options.feasible),
    target.checkCard,
  );
  const { interfaces, evidence } = await chosenFirst(trusted, options.chooser, clock);
  const [{ checked }] = interfaces;
  const candidates = interfaces.map(({ candidate }) => candidate);
  const finding = discovered.findings.find(({ protocol }) => protocol === candidates[0]?.protocol)?.finding;
  return {
    connection: connectionTo(target, candidates),
    evidence: [...evidence, ...(finding?.evidence ?? []), ...(checked.evidence === undefined ? [] : [checked.evidence])],
    verified: finding?.proved ?? false,
    cardTrust: checked.trust,
  };
}

/** With trust settings, a card is checked before its addresses are probed. */
function gateOf({ options, checkCard }: PeerTarget): Maybe<CardGate> {
  return options.trust === undefined ? undefined : async (card) => void (await checkCard(card));
}

function connectionTo(target: PeerTarget, candidates: readonly Candidate[]): Connection {
  const { options, credentials, ids, clock, discoveryCache, key } = target;
  const telemetry = options.telemetry ?? noTelemetry;
  const learning = learningBy(options.chooser, candidates, { clock, timeoutMs: options.timeoutMs });
  const connection = new Connection({
    linkFor: (candidate) => telemetry.link(credentials.linkFor(candidate.peer.card), edgeOf(target, candidate)),
    candidates,
    ids,
    random: options.random ?? Math.random,
    wrap: (handler, candidate) =>
      layered(rejectUnsatisfied(handler, target, candidate), target, candidate, learning?.(candidate)),
    onVersionError: () => discoveryCache.delete(key),
  });
  connection.shares = options.shares ?? {};
  return connection;
}

/** Rejects calls whose card requirements the credentials cannot satisfy, before anything is sent. The public card needs none. */
function rejectUnsatisfied(handler: Handler, { credentials }: PeerTarget, { peer }: Candidate): Handler {
  const problem = credentials.problemWith(peer.card);
  if (problem === undefined) return handler;
  return (operation, call) =>
    operation.kind === "card" && !operation.extended ? handler(operation, call) : Promise.reject(problem);
}

/** Outermost first: outcome reporting, telemetry, policies, deadline, stream resumption, answer checks, telemetry of each attempt. */
function layered(handler: Handler, target: PeerTarget, candidate: Candidate, learning: Maybe<Layer>): Handler {
  const { address, options, clock } = target;
  const edge = edgeOf(target, candidate);
  const telemetry = options.telemetry ?? noTelemetry;
  const { random = Math.random } = options;
  const canResume = () => candidate.peer.card.capabilities.resume;
  const limit = options.timeoutMs === undefined ? undefined : deadline(options.timeoutMs, clock);
  const layers = [
    learning,
    telemetry.client(edge, address),
    carryTrace,
    ...(options.layers ?? []),
    limit,
    options.resume === false ? undefined : resumeStreams({ canResume, clock, random }),
    checkAnswers(),
    telemetry.wire(edge, { protocol: candidate.protocol.id, version: candidate.peer.version, binding: candidate.peer.binding }),
  ];
  return stack(layers)(handler);
}

/** Labels are configured names only: a peer controls the name on its card. */
function edgeOf({ options }: PeerTarget, { protocol }: Candidate): Edge {
  return { srcAgent: options.as ?? "other", dstId: options.id ?? "other", protocol: protocol.id };
}

/** Credentials, protocols and the pin are part of the key: each can change what discovery finds. */
function cacheKey(url: string, { credentials = {}, protocols = registered, pin }: ConnectOptions): string {
  return JSON.stringify([url, credentials, pin, protocols.map(({ id, versions }) => `${id}@${versions.join("+")}`)]);
}
