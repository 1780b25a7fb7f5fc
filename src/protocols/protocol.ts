import type {
  AgentEvent,
  Call,
  Card,
  Context,
  Envelope,
  Handler,
  Head,
  IdSource,
  Interface,
  JsonObject,
  Maybe,
  OperationOf,
  Principal,
  PushConfig,
  Records,
  Task,
  TaskEvent,
  Via,
} from "../envelope/index.js";
import type { LanguageModel } from "../router/models/index.js";
import type { Exchange, HttpRequest, Link, Session } from "../transport/exchange.js";
import type { Limits } from "../transport/limits.js";
import type { FeatureClaims, Primitives } from "./features.js";
import type { Requirement } from "./requirement.js";

export type { IdSource };

/**
 * A route that a protocol serves. Routes are data, so that conflicts between protocols are detected when the server starts.
 * `path` is literal, or ends in `/*` to match everything below it. Routes with a higher `rank` (default 0) are matched first.
 * Two routes that can match the same request at the same rank are rejected at start. `when` is called only if the path matches.
 */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly rank?: Maybe<number>;
  readonly upgrade?: Maybe<boolean>;
  when?(request: HttpRequest): boolean;
}

/** Members that a protocol adds to a shared document, such as `/health` or `/.well-known/agent.json`. */
export interface Contribution {
  readonly path: string;
  /** Request headers that the members depend on, sent as `Vary`. */
  readonly vary: readonly string[];
  /** The members are the complete document, for example because it is signed: no other members are added. */
  readonly whole?: Maybe<boolean>;
  members(request: HttpRequest): JsonObject;
}

/** The server environment that a protocol is given: one handler, a list of agents, and shared services. */
export interface Host {
  readonly handler: Handler;
  readonly limits: Limits;
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
  /** Authenticates the caller. Throws AgentError `unauthenticated` or `forbidden`. */
  admit(request: HttpRequest): Principal | Promise<Principal>;
  /** Creates the call for an authenticated request. */
  begin(
    request: HttpRequest,
    start: {
      readonly caller: Principal;
      readonly agent: string;
      readonly via: Via;
      readonly parameters?: Maybe<Head>;
      /** When the caller stops waiting, on the host's clock. */
      readonly deadline?: Maybe<number>;
    },
  ): Call;
  /** The scheme, host and base path at which clients reach this host, without a trailing slash. */
  publicUrl(request: HttpRequest): string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A new unique id. */
  newId(): string;
  /** Reports an unexpected error inside the protocol implementation. */
  fault(thrown: unknown): void;
  /** The language model, if the user configured one. */
  readonly model: Maybe<LanguageModel>;
  /** Durable key-value records of a protocol, kept in the task store. */
  records(protocol: string): Records;
  /**
   * Fetches a URL from a message: through the outbound guard, without credentials, within the given limits. Throws AgentError.
   */
  follow(url: string, limits: { readonly bytes: number; readonly timeoutMs: number }): Promise<Uint8Array>;
  /** The user's settings for a protocol, not yet validated. */
  settings(protocol: string): Maybe<JsonObject>;
}

/** The server side of a protocol, bound to one host. */
export interface Served {
  /** Answers the requests that match the protocol's routes. */
  readonly exchange: Exchange;
  /** The interfaces at which this protocol serves an agent. Cards list these. */
  interfaces(agent: string, publicUrl: string): readonly Interface[];
  readonly contributions?: Maybe<readonly Contribution[]>;
  /** Handles a session, for protocols with long-lived connections. */
  accept?(session: Session): Promise<void>;
  /**
   * Encodes a push notification in the version that registered the webhook. `task` loads the task as of this event, for
   * versions that send the whole task.
   */
  notify?(event: TaskEvent, config: PushConfig, task: () => Promise<Maybe<Task>>): Notice | Promise<Notice>;
}

/** Checks a discovered card, or the placeholder for a peer without one. Discovery fails with the error it throws. */
export type CardGate = (card: Card) => void | Promise<void>;

/** The input of discovery beside the URL. */
export interface Search {
  /** A previous result, to be revalidated. */
  readonly known?: Maybe<Finding>;
  /** Called with the card before anything in it is used. */
  readonly check?: Maybe<CardGate>;
}

/** One interface of a peer. */
export interface Peer {
  readonly url: string;
  readonly card: Card;
  readonly version: string;
  readonly binding: string;
  readonly tenant?: Maybe<string>;
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
  /** The card describes the whole host, while the URL names a path below it: it may describe another agent. */
  readonly wider?: Maybe<boolean>;
  /** The ETag of the card document. */
  readonly etag?: Maybe<string>;
}

/** What a protocol supports on the wire. */
export interface Traits {
  readonly streaming: boolean;
  readonly tasks: boolean;
  /** A broken stream can be resumed after the last event received. */
  readonly resume: boolean;
  /** Sends with the same idempotency key are executed once. */
  readonly idempotentSend: boolean;
  /** An agent can ask for input in the middle of a task. */
  readonly inputTurns: boolean;
  readonly signed: "none" | "hop" | "end-to-end";
  readonly sealed: "none" | "hop" | "end-to-end";
  readonly binary: boolean;
  /** The context members that the protocol carries. */
  readonly carries: readonly (keyof Context)[];
}

/** Something that a protocol version cannot carry, declared in advance. */
export interface DeclaredLoss {
  readonly version: string;
  readonly path: string;
  readonly reason: string;
}

/** An encoded push notification. The sender adds the address, the outbound guard and retries. */
export interface Notice {
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** A received push notification whose sender is not verified yet. */
export interface ReadNotice {
  /** Decodes the event. Throws AgentError if it is malformed. */
  event(): AgentEvent;
  /** The token with which the webhook was registered. */
  readonly token: Maybe<string>;
}

/**
 * A protocol plugin. The server side turns HTTP requests into operations for a handler; the client side turns operations into
 * requests to a peer.
 */
export interface Protocol {
  /** The lower-case name, as in `protocol_hint`. */
  readonly id: string;
  /** The supported versions, newest first. All are served at the same time. */
  readonly versions: readonly string[];
  readonly traits: Traits;
  /** What the protocol is suited for, as input of the router. Default: derived from the traits. */
  readonly features?: Maybe<FeatureClaims>;
  /** The protocol's primitives for the optional features of a link. Default: none. */
  readonly primitives?: Maybe<Primitives>;
  readonly losses: readonly DeclaredLoss[];
  readonly routes: readonly Route[];
  /** Starts the server side for a host. */
  serve(host: Host): Served;
  /** Returns the client side for a peer. It never retries, and it answers `ping` with a real round trip. */
  connect(link: Link, peer: Peer, ids: IdSource): Handler;
  /**
   * Finds out whether the peer at `url` speaks this protocol; undefined if it does not. Never throws because of an answer in
   * another protocol. A previous result is revalidated by its ETag.
   */
  discover(link: Link, url: string, call: Call, search?: Search): Promise<Maybe<Finding>>;
  /** Probes an address that no card names. Called only if discovery found no protocol, or if this protocol was requested. */
  probe?(link: Link, url: string, call: Call, search?: Search): Promise<Maybe<Finding>>;
  /** Reads a push notification; undefined if it belongs to another protocol. Throws AgentError if the body is not JSON. */
  readNotice?(request: HttpRequest, ids: IdSource): Maybe<ReadNotice>;
  /** Messages initiated by the peer. Absent if the protocol has none. */
  receive?(link: Link, peer: Peer, call: Call): AsyncIterable<Envelope>;
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

/** Encodes a send operation as text, and decodes it. */
export interface SendCodec {
  /** The JSON text of a send operation, with everything the protocol carries. */
  write(send: OperationOf<"send">): string;
  /** Members absent from the text are empty. Throws AgentError. */
  read(text: string): OperationOf<"send">;
}

/** The services available to a protocol's command. */
export interface CommandTools {
  /** The protocol's records in the store of a server. */
  readonly records: Records;
  readFile(path: string): Promise<Uint8Array>;
}

/** A command that a protocol adds to the command line: `koine <protocol> <words>`. */
export interface ProtocolCommand {
  /** The words of the command, such as `protocol add`. */
  readonly words: string;
  readonly summary: string;
  /** The positional arguments. `many` accepts all remaining arguments. */
  readonly arguments: readonly { readonly name: string; readonly about: string; readonly many?: Maybe<boolean> }[];
  /** The command needs no store. */
  readonly storeless?: Maybe<boolean>;
  /** The command does not modify the store. */
  readonly readOnly?: Maybe<boolean>;
  /** Example invocations for the help text, one line each. */
  readonly examples: readonly string[];
  /** Returns the output as text and as JSON. Throws AgentError. */
  run(
    args: readonly string[],
    tools: CommandTools,
  ): Promise<{ readonly text: string; readonly document: JsonObject | readonly JsonObject[] }>;
}

/** The description of a setting, for help texts and for parsing values given as text. */
export interface SettingInfo {
  readonly name: string;
  readonly kind: "text" | "number" | "boolean";
  /** An example value. */
  readonly example: string;
  /** A one-line description, with the default. */
  readonly about: string;
}

/** An example request, for people to run by hand. */
export interface SampleCall {
  /** The interface that the request is for. Undefined: a well-known path of the host itself. */
  readonly wire: Maybe<{ readonly version: string; readonly binding: string }>;
  readonly about: string;
  /** Appended to the URL of the interface or of the host. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
}
