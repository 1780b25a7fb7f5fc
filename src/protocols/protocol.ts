import type {
  AgentError,
  Awaitable,
  Call,
  Card,
  Envelope,
  Extension,
  Floor,
  Handler,
  IdSource,
  Interface,
  JsonObject,
  Maybe,
  Principal,
  PushConfig,
  Records,
  ReplayGuard,
  Task,
  TaskEvent,
  Via,
} from "../envelope/index.js";
import type { LanguageModel } from "../router/models/index.js";
import type { ProvenPeer } from "../security/admission.js";
import type { DidMethod, DidService, FetchUrl, Identity, Resolver } from "../security/identity/index.js";
import type {
  Exchange,
  HttpRequest,
  Link,
  RelayedSessionFacts,
  RequestHead,
  Session,
  SessionMessage,
} from "../transport/exchange.js";
import type { Limits } from "../transport/limits.js";
import type { CallBegin } from "./call-begin.js";
import type { Carrier } from "./carrier.js";
import type { CommandTools, ProtocolCommand, SampleCall, SettingInfo } from "./command-line.js";
import type { Deployments } from "./deployment.js";
import type { FeatureClaims, Primitives } from "./features.js";
import type { Health } from "./health.js";
import type { CreateIdentity } from "./identity-registration.js";
import type { ClientInbox, Inbox } from "./inbox.js";
import type { Notice, ReadNotice } from "./notice.js";
import type { Outgoing } from "./outgoing.js";
import type { RelayedPeer } from "./relayed-peer.js";
import type { Requirement } from "./requirement.js";
import type { Contribution, Route } from "./route.js";
import type { SendCodec } from "./send-codec.js";
import type { AtRest, BindingTraits, DeclaredLoss, Traits, VersionTraits } from "./traits.js";

export type { CommandOption, CommandOutput } from "./command-line.js";
export type {
  CallBegin,
  ClientInbox,
  CommandTools,
  Contribution,
  DeclaredLoss,
  DidMethod,
  DidService,
  FetchUrl,
  IdSource,
  Inbox,
  Notice,
  ProtocolCommand,
  ReadNotice,
  RelayedPeer,
  Route,
  SampleCall,
  SendCodec,
  SettingInfo,
  Traits,
};

/** The services that the server side and the client side of a protocol are both given. */
export interface ProtocolContext extends IdSource {
  readonly limits: Limits;
  /** The user's identity, with which the protocol signs and seals. */
  readonly identity: Maybe<Identity>;
  /** Finds the documents of peers' DIDs. */
  readonly resolver: Resolver;
  /** Accepts each signed message once. A server's is shared by all its replicas if the user configured it so. */
  readonly replay: ReplayGuard;
  /** The language model, if the user configured one. */
  readonly model: Maybe<LanguageModel>;
  /** Key-value records of a protocol. A server keeps them in its task store, and those that hold content of messages sealed if it can. */
  records(protocol: string, holding?: "content"): Records;
  /** The user's settings for a protocol, not yet validated. */
  settings(protocol: string): Maybe<JsonObject>;
  /** Messages that peers initiate. */
  readonly inbox: Inbox;
  /** Reports an unexpected error inside the protocol implementation. */
  fault(thrown: unknown): void;
}

/** The server environment that a protocol is given: one handler, a list of agents, and shared services. */
export interface Host extends ProtocolContext {
  readonly handler: Handler;
  /** The listener also accepts HTTP/2 with trailers, which gRPC requires. */
  readonly http2: boolean;
  /** Whether cards advertise this version and binding. Default: all are advertised. `begin` rejects calls to those that are not. */
  offers?(candidate: Via): boolean;
  /** The cards of all served agents, the default agent first. Protocols add their interfaces. */
  cards(): readonly Card[];
  /**
   * The signatures of a card document. `view` is the document as clients of a single version read it. Empty if the host has
   * no signing key.
   */
  signatures(document: JsonObject, view?: JsonObject): readonly JsonObject[];
  /** Sessions can be accepted; otherwise cards do not offer them. */
  readonly sessions: boolean;
  /** The peer behind an agent, if its sessions may be passed on to it. Default: this host ends all sessions. */
  relayed?(agent: string): Maybe<RelayedPeer>;
  /** Reports a session that is passed on to such a peer, before its first message is. */
  relaying?(session: Session, facts: RelayedSessionFacts): void;
  /** The caller: the one decision about a request or session. Throws AgentError `unauthenticated` or `forbidden`. */
  admit(from: RequestHead | Session): Awaitable<Principal>;
  /** Admits a peer that proved its DID inside the protocol. Throws AgentError. */
  identify(from: RequestHead | Session, peer: ProvenPeer): Awaitable<Principal>;
  /** Reports a peer that the protocol itself refused, for example because of its handshake, or of what a call of it says. */
  refused(from: RequestHead | Session | Call, error: AgentError): void;
  /** Called before a document is shown to anyone. Throws the refusal of a request that is refused all the same. Default: none is. */
  checkPublic?(request: HttpRequest): void;
  /** All callers read what Koine adds to the messages and errors of a protocol. Default: those that say so do. */
  readonly koineCallers?: Maybe<boolean>;
  /** Creates the call for an authenticated request or message. */
  begin(from: HttpRequest | SessionMessage, start: CallBegin): Call;
  /** The scheme, host and base path at which clients reach this host, without a trailing slash. */
  publicUrl(request: RequestHead): string;
  /** Fetches a URL from a message. */
  readonly follow: FetchUrl;
  /** Sends requests to a peer that this host was not called by, at an address that the peer's document names. */
  readonly outgoing: Outgoing;
  /** What health checks of a protocol report, instead of the mere fact that the port answers. */
  readonly health: Health;
}

/** The server side of a protocol, bound to one host. */
export interface Served {
  /** Answers the requests that match the protocol's routes. */
  readonly exchange: Exchange;
  /** The interfaces at which this protocol serves an agent. Cards list these. */
  interfaces(agent: string, publicUrl: string): readonly Interface[];
  readonly contributions?: Maybe<readonly Contribution[]>;
  /** Whether callers of a route with `proves` can prove themselves as this server is set. Default: yes. */
  proves?(route: Route): boolean;
  /** Whether the path of a route is its own as this server is set. If not, it is given what others would get there. Default: yes. */
  ownsPath?(route: Route): boolean;
  /** Runs a session of a route with `upgrade`. It is closed when the promise settles. */
  accept?(session: Session): Promise<void>;
  /** Sends a message to an owner with an open session. Throws `unavailable` without one. */
  say?(owner: string, envelope: Envelope): Promise<void>;
  /**
   * Encodes a push notification in the version that registered the webhook. `task` loads the task as of this event, for
   * versions that send the whole task.
   */
  notify?(event: TaskEvent, config: PushConfig, task: () => Promise<Maybe<Task>>): Awaitable<Notice>;
  /** Releases what outlives a request. */
  close?(): Promise<void>;
}

/** Checks a discovered card, or the placeholder for a peer without one. Discovery fails with the error it throws. */
export type CardGate = (card: Card) => void | Promise<void>;

/** The input of discovery beside the URL. */
export interface Search {
  /** A previous result, to be revalidated. */
  readonly known?: Maybe<Finding>;
  /** Called with the card before anything in it is used. */
  readonly check?: Maybe<CardGate>;
  /** The requested interface, as in `ConnectOptions.pin`. */
  readonly pin?: Maybe<string>;
  /** The caller proves the interfaces of a card itself: they are not probed, and an address without a card is not looked at. */
  readonly unprobed?: Maybe<boolean>;
}

/** One interface of a peer. */
export interface Peer {
  readonly url: string;
  readonly card: Card;
  readonly version: string;
  readonly binding: string;
  readonly tenant?: Maybe<string>;
}

/** The environment of discovery. */
export interface DiscoveryContext extends ProtocolContext {
  readonly link: Link;
  /** The DID that the user called, which the peer must prove. Undefined: an address was called. */
  readonly calledDid: Maybe<string>;
  readonly inbox: ClientInbox;
}

/** The client environment that a protocol is given: the transport, the peer, and shared services. */
export interface ClientContext extends DiscoveryContext {
  readonly peer: Peer;
}

/** The client side of a protocol, bound to one interface of a peer. */
export interface Client {
  /** Never retries, and answers `ping` with a real round trip. */
  readonly handler: Handler;
  /** What it insists on before it writes to this peer at its address, usually `tlsProtection(peer.url)`. Never less later on. */
  protection(): Floor;
  /** Messages initiated by the peer, usually those of `context.inbox`. Absent if the protocol has none. */
  receive?(call: Call): AsyncIterable<Envelope>;
  /** Releases what outlives a call. The link is closed by its owner. */
  close(): Promise<void>;
}

/** The result of discovery by one protocol, with its evidence. */
export interface Finding {
  /** The peer's interfaces for this protocol, best first. Never empty. */
  readonly peers: readonly Peer[];
  /** Human-readable evidence, one sentence each: which document, which probe. */
  readonly evidence: readonly string[];
  /** The peer gave a valid answer in this protocol. A card alone is not proof. */
  readonly proved: boolean;
  /** The interfaces on the card were probed, and none gave a valid answer. */
  readonly doubted?: Maybe<boolean>;
  /** Doubted, because nothing is there: every address answered 404 or 405. A peer that fails otherwise may be back later. */
  readonly absent?: Maybe<boolean>;
  /** The card describes the whole host, while the URL names a path below it: it may describe another agent. */
  readonly wider?: Maybe<boolean>;
  /** The ETag of the card document. */
  readonly etag?: Maybe<string>;
}

/** A protocol plugin. Its server side turns requests into operations for a handler, its client side operations into requests. */
export interface Protocol {
  /** The lower-case name, as in `protocol_hint`. */
  readonly id: string;
  /** The supported versions, newest first. All are served at the same time. */
  readonly versions: readonly string[];
  readonly traits: Traits;
  /** The traits of versions that support less. Default: none does. */
  readonly versionTraits?: Maybe<VersionTraits>;
  /** The traits of bindings that support less. Default: none does. */
  readonly bindingTraits?: Maybe<BindingTraits>;
  /** What the protocol is suited for, as input of the router. Default: derived from the traits. */
  readonly features?: Maybe<FeatureClaims>;
  /** The protocol's primitives for the optional features of a link. Default: none. */
  readonly primitives?: Maybe<Primitives>;
  readonly losses: readonly DeclaredLoss[];
  /** How the protocol is run: the least that works, and what is recommended. `--profile` applies it. */
  readonly deployments?: Maybe<Deployments>;
  readonly routes: readonly Route[];
  /** For a protocol that is made of this one. Default: none can be. */
  readonly carrier?: Maybe<Carrier>;
  /** Starts the server side for a host. */
  serve(host: Host): Served;
  /** Starts the client side for a peer. */
  connect(context: ClientContext): Client;
  /**
   * Finds out whether the peer at `url` speaks this protocol; undefined if it does not. Never throws because of an answer in
   * another protocol. A previous result is revalidated by its ETag.
   */
  discover(context: DiscoveryContext, url: string, call: Call, search?: Search): Promise<Maybe<Finding>>;
  /**
   * Probes an address that no card names. Called only if discovery found no interface, or only absent ones, or if an interface of this
   * protocol was requested that discovery did not find.
   */
  probe?(context: DiscoveryContext, url: string, call: Call, search?: Search): Promise<Maybe<Finding>>;
  /** The DID methods that the protocol resolves with these settings. `records`: the protocol's own, if the user has a store. */
  readonly didMethods?: Maybe<(settings: Maybe<JsonObject>, records: Maybe<Records>) => readonly DidMethod[]>;
  /** Extensions that the cards of a server under this identity declare. Default: none. */
  readonly cardExtensions?: Maybe<
    (identity: Maybe<Identity>, atRest: AtRest, settings: Maybe<JsonObject>) => readonly Extension[]
  >;
  /** Whether a server under this identity stores its tasks sealed, unless its user says otherwise. Default: no. */
  readonly sealsStore?: Maybe<(identity: Maybe<Identity>) => boolean>;
  /**
   * The handler of a host for messages of all protocols: this one verifies what it put into them, whichever protocol brings them, and
   * protects the answers. Default: that of the host.
   */
  readonly guardMessages?: Maybe<(host: Host) => Handler>;
  /** The protocol signs or seals with `identity` of its context. Default: false; a client then signs its HTTP requests. */
  readonly usesIdentity?: Maybe<boolean>;
  /** Makes an identity that peers of this protocol accept, registered in `records` alone. Default: they accept any, such as a did:key. */
  readonly createIdentity?: Maybe<CreateIdentity>;
  /** Settings for what runs on this machine for development, where there is such a thing; resolves with undefined if it does not run. */
  readonly localSettings?: Maybe<() => Promise<Maybe<JsonObject>>>;
  /** It is spoken between identities only: without one it is neither served nor called. Default: false. */
  readonly needsIdentity?: Maybe<boolean>;
  /** Requests that one operation may take once set up: 2 if the peer may answer with a challenge. Default: 1. */
  readonly requestsPerCall?: Maybe<number>;
  /** Reads a push notification; undefined if it belongs to another protocol. Throws AgentError if the body is not JSON. */
  readNotice?(request: HttpRequest, ids: IdSource): Maybe<ReadNotice>;
  /** The encoding of messages by itself. Absent if encoding depends on keys or on the peer. */
  readonly codec?: Maybe<SendCodec>;
  /** The settings that the protocol reads from `Host.settings`. */
  readonly settings?: Maybe<readonly SettingInfo[]>;
  /** Example requests that send `text` to `agent`, for people to run by hand. Loaded on demand. */
  readonly samples?: Maybe<(text: string, agent: Card) => Promise<readonly SampleCall[]>>;
  /** Additional commands for the command line. Loaded on demand. */
  readonly commands?: Maybe<() => Promise<readonly ProtocolCommand[]>>;
  /** What the specification requires of a server, as checks that run against any URL. Loaded on demand. */
  readonly requirements?: Maybe<() => Promise<readonly Requirement[]>>;
}
