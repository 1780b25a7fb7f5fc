import {
  type JsonObject,
  type Layer,
  type LossSink,
  type Maybe,
  type Records,
  type ReplayGuard,
  systemIds,
} from "../envelope/index.js";
import { type Clock, systemClock } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import { createClientContext } from "../protocols/client-context.js";
import type { Replies } from "../protocols/index.js";
import type { CardGate, DiscoveryContext, IdSource, Protocol } from "../protocols/protocol.js";
import type { LanguageModel } from "../router/models/index.js";
import { blindDigest, type CardTrust, type Identity, identitySigner, type Resolver } from "../security/index.js";
import { createMemoryStore } from "../tasks/index.js";
import { noTelemetry, type Telemetry } from "../telemetry/index.js";
import type { Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import { type CheckCard, type CheckedCard, cardChecker, trustedInterfaces } from "./card-trust.js";
import { chosenFirst, feasibleInterfaces, learningBy, type ProtocolChooser } from "./choose-protocol.js";
import { Connection } from "./connection.js";
import { type CredentialLinks, credentialLinks } from "./credential-link.js";
import type { Credentials } from "./credentials.js";
import { reachOf, resolverFor } from "./did-resolvers.js";
import { candidatesOf, discoverPeer } from "./discovery.js";
import { DiscoveryCache } from "./discovery-cache.js";
import { type FloorOptions, FloorRules } from "./floor-rules.js";
import { edgeOf, withLayers } from "./interface-layers.js";
import { type ConnectionLimits, peerLink, poolLimits, type RewriteAddress, rewriting } from "./peer-link.js";
import type { Candidate, Shares } from "./pick-interface.js";
import { replyInbox } from "./reply-inbox.js";
import { isVerified } from "./verified-interface.js";

/** How to find and call a peer. */
export interface ConnectOptions extends FloorOptions, ConnectionLimits {
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  /** `a2a`, `a2a@0.3` or `a2a@0.3/JSONRPC`: use only this interface; no other is tried. */
  readonly pin?: string;
  /** Protocols that may be used, by id or name, for example those a routing decision left. Default: all registered ones. */
  readonly feasible?: readonly string[];
  /** Selects the protocol, once per connection, where the peer supports several. Default: the order of the peer's card. */
  readonly chooser?: ProtocolChooser;
  /** Credentials for the peer. Default: none. */
  readonly credentials?: Credentials;
  /** The caller's identity: protocols sign and seal with it, and every HTTP request to the peer is signed. Default: none. */
  readonly identity?: Identity;
  /** Finds DID documents. Default: did:key and did:web, at public addresses or, for a peer on this machine, here too. */
  readonly resolver?: Resolver;
  /** `server.replies` of a server under the same identity: where answers arrive that peers send as messages. Default: they cannot. */
  readonly replies?: Replies;
  /** Accepts each message that the peer signed once, in protocols that sign messages. Default: in memory, for this connection. */
  readonly replay?: ReplayGuard;
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
  /** Receives metrics, traces and hooks of the calls. Default: none. */
  readonly telemetry?: Telemetry;
  /** Settings by protocol name, for the client side of protocols that have some. Default: none. */
  readonly settings?: { readonly [protocol: string]: JsonObject };
  /** The language model for protocols that need one. Default: none. */
  readonly model?: LanguageModel;
  /** Where protocols keep what outlives a call, such as agreements: `store.records`. Default: in memory. */
  readonly records?: Records;
  /** Size and time limits of the transport. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Limits;
  /** Percentage of sends by protocol and version; can be changed later with `share`. */
  readonly shares?: Shares;
  /** Where discovery results are kept. Default: one cache for the process. */
  readonly discoveryCache?: DiscoveryCache;
  /** The transport. Default: pooled HTTP. */
  readonly link?: Link;
  /** The time source. Default: the system clock. */
  readonly clock?: Clock;
  /** The id source. Default: random ids. */
  readonly ids?: IdSource;
  /** A number from 0 up to 1, for retry jitter and shares. Default: `Math.random`. */
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
  readonly context: DiscoveryContext;
  leave(): void;
  readonly rewrite: Maybe<RewriteAddress>;
  /** The links that present credentials, one for each card. */
  readonly credentials: CredentialLinks;
  readonly checkCard: CheckCard;
  readonly floor: FloorRules;
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

/** `calledDid`: the address is that of a service of this DID, which the user called. */
export function peerTargetOf(
  address: string,
  options: ConnectOptions,
  rewrite?: Maybe<RewriteAddress>,
  calledDid?: Maybe<string>,
): PeerTarget {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const { clock = systemClock } = options;
  const own = ownCredentials(options);
  const base = options.link ?? peerLink(address, limits, own.tls, poolLimits(options));
  const credentials = credentialLinks(base, address, own, () => clock.now());
  const link = rewriting(credentials.plain, rewrite);
  const ids = options.ids ?? systemIds;
  const replies = replyInbox(options, limits.inboxMessages);
  return {
    address,
    as: options.as ?? "",
    options,
    link,
    context: createClientContext({
      link,
      calledDid,
      ids,
      limits,
      identity: options.identity,
      resolver: options.resolver ?? resolverFor(reachOf(address), options),
      replay: options.replay,
      model: options.model,
      records: recordsOf(options),
      settings: options.settings,
      inbox: replies.inbox,
    }),
    leave: replies.leave,
    credentials,
    rewrite,
    floor: new FloorRules(address, options, clock),
    checkCard: cardChecker(options.trust, rewriting(base, rewrite), () => clock.now()),
    ids,
    clock,
    discoveryCache: options.discoveryCache ?? sharedCache,
    key: cacheKey(address, options),
  };
}

/** With the signer of the identity, unless the user chose another one. */
export function ownCredentials({ credentials = {}, identity, clock = systemClock }: ConnectOptions): Credentials {
  if (identity === undefined || credentials.signer !== undefined) return credentials;
  return { ...credentials, signer: identitySigner(identity, () => clock.now()) };
}

/** In memory and created with the first use, unless the user has a store. */
function recordsOf({ records, clock = systemClock }: ConnectOptions): () => Records {
  let own = records;
  return () => {
    own ??= createMemoryStore({ now: () => clock.now() }).records;
    return own;
  };
}

/** Uses the cached discovery result while it is fresh, unless `rediscover` is set. */
export async function resolvePeer(target: PeerTarget, rediscover: boolean): Promise<ResolvedPeer> {
  const { address, options, context, clock, discoveryCache, key } = target;
  const { protocols = registered, discoverMs = DISCOVER_MS } = options;
  const cached = discoveryCache.get(key, clock.now());
  const discovered =
    cached?.fresh === true && !rediscover
      ? cached.result
      : await discoverPeer(address, {
          protocols,
          context,
          clock,
          discoverMs,
          known: cached?.result,
          check: gateOf(target),
          pin: options.pin,
        });
  discoveryCache.put(key, discovered);
  if (options.link === undefined) await target.floor.learn();
  // The cache is shared by the process, trust settings are not: the card is checked for every target.
  const trusted = await trustedInterfaces(
    feasibleInterfaces(candidatesOf(discovered, options.pin), options.feasible),
    target.checkCard,
  );
  const { interfaces, evidence } = await chosenFirst(trusted, options.chooser, clock);
  const connection = connectionTo(
    target,
    interfaces.map(({ candidate }) => candidate),
  );
  const { current } = connection;
  const { checked } = interfaces.find(({ candidate }) => candidate === current) ?? interfaces[0];
  const finding = discovered.findings.find(({ protocol }) => protocol === current.protocol)?.finding;
  return {
    connection,
    evidence: [...evidence, ...(finding?.evidence ?? []), ...(checked.evidence === undefined ? [] : [checked.evidence])],
    verified: await isVerified(finding, connection, { clock, timeMs: discoverMs, pinned: options.pin !== undefined }),
    cardTrust: checked.trust,
  };
}

/** With trust settings, a card is checked before its addresses are probed. */
function gateOf({ options, checkCard }: PeerTarget): Maybe<CardGate> {
  return options.trust === undefined ? undefined : async (card) => void (await checkCard(card));
}

function connectionTo(target: PeerTarget, candidates: readonly Candidate[]): Connection {
  const { options, credentials, context, rewrite, clock, discoveryCache, key, floor } = target;
  const telemetry = options.telemetry ?? noTelemetry;
  const learning = learningBy(options.chooser, candidates, { clock, timeoutMs: options.timeoutMs });
  const connection = new Connection({
    contextFor: (candidate) => ({
      ...context,
      link: rewriting(telemetry.link(credentials.linkFor(candidate.peer.card), edgeOf(target, candidate)), rewrite),
      peer: candidate.peer,
    }),
    candidates,
    random: options.random ?? Math.random,
    wrap: (handler, candidate) => withLayers(handler, target, candidate, learning?.(candidate)),
    onVersionError: () => discoveryCache.delete(key),
    floor,
    dialled: (url) => rewrite?.(url) ?? url,
  });
  connection.shares = options.shares ?? {};
  return connection;
}

const digestOf = blindDigest();

/** Identity, credentials, settings, protocols and the pin are part of the key: each can change what discovery finds. No secret is in it. */
function cacheKey(
  url: string,
  { identity, credentials = {}, settings = {}, protocols = registered, pin }: ConnectOptions,
): string {
  return JSON.stringify([
    url,
    identity && [identity.name, ...identity.keys().map(({ id }) => id)],
    digestOf(JSON.stringify([credentials, settings])),
    pin,
    protocols.map(({ id, versions }) => `${id}@${versions.join("+")}`),
  ]);
}
