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

export interface ConnectOptions {
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  /** `a2a`, `a2a@0.3` or `a2a@0.3/JSONRPC`: only this way, and no other is tried. */
  readonly pin?: string;
  /** Protocols that may be used at all, by id or name, such as a routing decision left. Default: all that are known here. */
  readonly feasible?: readonly string[];
  /** Chooses, once per connection, where the peer speaks several of them. Default: the order of the peer's card. */
  readonly chooser?: ProtocolChooser;
  readonly credentials?: Credentials;
  /** Whose signatures on the peer's card count, and whether one is required. Default: nobody's, and none. */
  readonly trust?: CardTrust;
  /** Hears of everything the chosen way could not carry, in either direction. */
  readonly onLoss?: LossSink;
  /** How long to wait for one answer, streams included. Default: no limit but the transport's own. */
  readonly timeoutMs?: number;
  /** False: a stream that is cut stays cut. Default: it is taken up where the peer can give the rest. */
  readonly resume?: boolean;
  /** How long discovery may take. */
  readonly discoverMs?: number;
  /** Policies around every call, outermost first. */
  readonly layers?: readonly Layer[];
  /** Our own name: who calls. */
  readonly as?: string;
  /** The peer's configured name, for metrics. Default: the name on its card is not used; `other` is. */
  readonly id?: string;
  readonly telemetry?: Telemetry;
  readonly limits?: Limits;
  /** Percent of the sends by protocol and version; can be changed later with `share`. */
  readonly shares?: Shares;
  /** Where verdicts are kept. Default: one for the process. */
  readonly discoveryCache?: DiscoveryCache;
  /** What carries the bytes. Default: pooled HTTP. */
  readonly link?: Link;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly random?: () => number;
}

const DISCOVER_MS = 10_000;
const sharedVerdicts = new DiscoveryCache();

/** An address, and everything needed to find out about it and to call it. */
export interface PeerTarget {
  readonly address: string;
  readonly as: string;
  readonly options: ConnectOptions;
  readonly link: Link;
  /** The link with the credentials, for each card. */
  readonly credentials: CredentialLinks;
  readonly checkCard: CheckCard;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly discoveryCache: DiscoveryCache;
  /** Under which its verdict is kept. */
  readonly key: string;
}

/** What was found out, ready to be called. */
export interface ResolvedPeer {
  readonly connection: Connection;
  readonly evidence: readonly string[];
  readonly verified: boolean;
  /** What the signatures of the card we go by are worth. */
  readonly cardTrust: CheckedCard["trust"];
}

export function peerTargetOf(address: string, options: ConnectOptions): PeerTarget {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const { credentials: own = {}, clock = systemClock } = options;
  const bare = options.link ?? peerLink(address, limits, own.tls);
  const credentials = credentialLinks(bare, address, own, () => clock.now());
  return {
    address,
    as: options.as ?? "",
    options,
    link: credentials.plain,
    credentials,
    checkCard: cardChecker(options.trust, bare, () => clock.now()),
    ids: options.ids ?? systemIds,
    clock,
    discoveryCache: options.discoveryCache ?? sharedVerdicts,
    key: verdictKey(address, options),
  };
}

/** By the verdict that is known and fresh, unless it is to be found out anew. */
export async function resolvePeer(target: PeerTarget, anew: boolean): Promise<ResolvedPeer> {
  const { address, options, link, clock, discoveryCache, key } = target;
  const { protocols = registered, discoverMs = DISCOVER_MS } = options;
  const known = discoveryCache.get(key, clock.now());
  const verdict =
    known?.fresh === true && !anew
      ? known.verdict
      : await discoverPeer(address, {
          protocols,
          link,
          clock,
          discoverMs,
          known: known?.verdict,
          check: gateOf(target),
          pin: options.pin,
        });
  discoveryCache.put(key, verdict);
  // Verdicts are shared by the whole process, whom to trust is not: so the card is looked at anew for every target.
  const trusted = await trustedInterfaces(
    feasibleInterfaces(candidatesOf(verdict, options.pin), options.feasible),
    target.checkCard,
  );
  const { ways, evidence } = await chosenFirst(trusted, options.chooser, clock);
  const [{ checked }] = ways;
  const candidates = ways.map(({ candidate }) => candidate);
  const finding = verdict.findings.find(({ protocol }) => protocol === candidates[0]?.protocol)?.finding;
  return {
    connection: connectionTo(target, candidates),
    evidence: [...evidence, ...(finding?.evidence ?? []), ...(checked.evidence === undefined ? [] : [checked.evidence])],
    verified: finding?.proved ?? false,
    cardTrust: checked.trust,
  };
}

/** With somebody to trust, a card is checked before even a probe goes where it leads. */
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
    wrap: (handler, candidate) => layered(admissible(handler, target, candidate), target, candidate, learning?.(candidate)),
    onVersionError: () => discoveryCache.end(key),
  });
  connection.shares = options.shares ?? {};
  return connection;
}

/** A demand of the card that cannot be met is said before anything is sent. The card itself is for everybody. */
function admissible(handler: Handler, { credentials }: PeerTarget, { peer }: Candidate): Handler {
  const problem = credentials.problemWith(peer.card);
  if (problem === undefined) return handler;
  return (operation, call) =>
    operation.kind === "card" && !operation.extended ? handler(operation, call) : Promise.reject(problem);
}

/** Outermost first: what learns from the call, what watches the whole of it, the user's policies, the time limit, what mends streams, what checks answers, what watches each try. */
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

/** Labels are configured names: the name on a peer's card is whatever the peer likes. */
function edgeOf({ options }: PeerTarget, { protocol }: Candidate): Edge {
  return { srcAgent: options.as ?? "other", dstId: options.id ?? "other", protocol: protocol.id };
}

/** Other credentials may see another card; another list of protocols, or a pin, looks for other things. */
function verdictKey(url: string, { credentials = {}, protocols = registered, pin }: ConnectOptions): string {
  return JSON.stringify([url, credentials, pin, protocols.map(({ id, versions }) => `${id}@${versions.join("+")}`)]);
}
