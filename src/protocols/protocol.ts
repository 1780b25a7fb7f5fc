import type {
  AgentEvent,
  Call,
  Card,
  Context,
  Envelope,
  Handler,
  Head,
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

/**
 * Data, so that all claims of all protocols are compared when the server starts, not when a request is lost.
 * `path` is literal, or ends in `/*` for everything below. Higher rank is asked first; two routes that can match one
 * request at one rank are refused at start. `when` looks at the request only if the path matched.
 */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly rank?: Maybe<number>;
  readonly upgrade?: Maybe<boolean>;
  when?(request: HttpRequest): boolean;
}

/** Members a protocol adds to a document of the front door, such as `/health` or `/.well-known/agent.json`. */
export interface Contribution {
  readonly path: string;
  /** Request headers the members depend on, for `Vary`. */
  readonly vary: readonly string[];
  /** The document is signed as it stands: nobody else's members are added to it. */
  readonly whole?: Maybe<boolean>;
  members(request: HttpRequest): JsonObject;
}

/** What a server half is made for: one host with one handler and a list of agents. `serve(agent)` is a host of one. */
export interface Host {
  readonly handler: Handler;
  readonly limits: Limits;
  /** Whoever carries requests here also takes them by HTTP/2, with trailers. */
  readonly http2: boolean;
  /** Whether this version and binding is to be offered on cards; where it is absent, every one is. What is not offered is refused by `begin`. */
  offers?(way: Via): boolean;
  /** The cards of all served agents, the default agent first. Interfaces are added by the protocols. */
  cards(): readonly Card[];
  /**
   * Signatures to stand in a card document, over exactly that document; `view` is what readers see of it that know one
   * version only. None where the host has no key.
   */
  signatures(document: JsonObject, view?: JsonObject): readonly JsonObject[];
  /** Who is it? Throws AgentError `unauthenticated` or `forbidden`. */
  admit(request: HttpRequest): Principal | Promise<Principal>;
  begin(
    request: HttpRequest,
    start: {
      readonly caller: Principal;
      readonly agent: string;
      readonly via: Via;
      readonly parameters?: Maybe<Head>;
      /** How long the caller waits, on the host's clock. */
      readonly deadline?: Maybe<number>;
    },
  ): Call;
  /** Scheme, host and base path under which this host is reached, without a trailing slash. */
  publicUrl(request: HttpRequest): string;
  /** Milliseconds since the epoch. */
  now(): number;
  newId(): string;
  /** Something went wrong in the protocol itself that should not have. */
  fault(thrown: unknown): void;
  /** For what only a language model can do. Absent unless the user gave one. */
  readonly model: Maybe<LanguageModel>;
  /** What this protocol must remember beyond one call; lives where tasks live. */
  records(protocol: string): Records;
  /**
   * What a URL out of a message points to: through the guard, without credentials, at most so many bytes within so many
   * milliseconds. Throws AgentError.
   */
  follow(url: string, limits: { readonly bytes: number; readonly timeoutMs: number }): Promise<Uint8Array>;
  /** The protocol's own settings, as the user gave them. */
  settings(protocol: string): Maybe<JsonObject>;
}

export interface Served {
  readonly exchange: Exchange;
  /** The addresses this protocol really answers at, for one agent. Cards are made from this. */
  interfaces(agent: string, publicUrl: string): readonly Interface[];
  readonly contributions?: Maybe<readonly Contribution[]>;
  accept?(session: Session): Promise<void>;
  /**
   * What is sent to a webhook, in the form of the version that registered it. `task` gives the task as it was with this
   * event, for forms that send it whole.
   */
  notify?(event: TaskEvent, config: PushConfig, task: () => Promise<Maybe<Task>>): Notice | Promise<Notice>;
}

/** Looks at a card that was found, or at the stand-in for one that was not. Throws what discovery is to fail with. */
export type CardGate = (card: Card) => void | Promise<void>;

/** What discovery starts from. */
export interface Search {
  readonly known?: Maybe<Finding>;
  /** Hears of a card before anything the card says is acted on. */
  readonly check?: Maybe<CardGate>;
}

/** One way to reach a peer. */
export interface Peer {
  readonly url: string;
  readonly card: Card;
  readonly version: string;
  readonly binding: string;
  readonly tenant?: Maybe<string>;
}

/** What discovery found, and how it knows. */
export interface Finding {
  /** All ways to reach the peer by this protocol, the best first. Never empty. */
  readonly peers: readonly Peer[];
  /** One sentence each, for people: which document, which probe. */
  readonly evidence: readonly string[];
  /** A live answer in this protocol's own grammar was seen; a card alone proves nothing. */
  readonly proved: boolean;
  /** What a card claims was tried, and nothing that was claimed answered so. */
  readonly doubted?: Maybe<boolean>;
  /** What was found is that of the whole host, while the address names something below it: it may be another agent. */
  readonly wider?: Maybe<boolean>;
  /** The validator of the document it rests on. */
  readonly etag?: Maybe<string>;
}

export interface Traits {
  readonly streaming: boolean;
  readonly tasks: boolean;
  readonly resume: boolean;
  readonly idempotentSend: boolean;
  readonly inputTurns: boolean;
  readonly signed: "none" | "hop" | "end-to-end";
  readonly sealed: "none" | "hop" | "end-to-end";
  readonly binary: boolean;
  /** The context members this wire carries. */
  readonly carries: readonly (keyof Context)[];
}

/** What this wire cannot carry, said before anything is sent. */
export interface DeclaredLoss {
  readonly version: string;
  readonly path: string;
  readonly reason: string;
}

/** One push notification as it leaves; address, guard and retry are the sender's affair. */
export interface Notice {
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** One push notification as it arrives, before anybody has checked who sent it. */
export interface ReadNotice {
  /** Throws AgentError for one that is broken. */
  event(): AgentEvent;
  /** The token that was given when the webhook was registered, wherever this protocol puts it. */
  readonly token: Maybe<string>;
}

/** A pair of bridges: the server half makes an exchange out of a handler, the client half a handler out of a link. */
export interface Protocol {
  /** Lower case, as in `protocol_hint`. */
  readonly id: string;
  /** Newest first. Each has its own codec; all are served at once. */
  readonly versions: readonly string[];
  readonly traits: Traits;
  /** What it is for and what not, for whoever chooses between protocols. Without it only the traits speak. */
  readonly features?: Maybe<FeatureClaims>;
  /** Its own means for what links switch on. Without it a link of this protocol only exchanges messages. */
  readonly primitives?: Maybe<Primitives>;
  readonly losses: readonly DeclaredLoss[];
  readonly routes: readonly Route[];
  serve(host: Host): Served;
  /** Never retries by itself. Answers `ping` with a real round trip. */
  connect(link: Link, peer: Peer, ids: IdSource): Handler;
  /**
   * Undefined when nothing at this address speaks the protocol. Never throws for an answer of another kind. What is
   * already known is confirmed by its validator instead of being found out again.
   */
  discover(link: Link, url: string, call: Call, search?: Search): Promise<Maybe<Finding>>;
  /** Asked only where no protocol was found, or this one is wanted: a live question to an address that no document names. */
  probe?(link: Link, url: string, call: Call, search?: Search): Promise<Maybe<Finding>>;
  /** A push notification that came in; undefined when it is none of this protocol. Throws AgentError for a body that is no JSON. */
  readNotice?(request: HttpRequest, ids: IdSource): Maybe<ReadNotice>;
  /** Messages the peer starts. Absent where the wire has none. */
  receive?(link: Link, peer: Peer, call: Call): AsyncIterable<Envelope>;
  /** Its encoding alone, without calls, hosts and sockets. Absent where there is none, because keys or peers take part in it. */
  readonly codec?: Maybe<SendCodec>;
  /** What `Host.settings` of this protocol understands. */
  readonly settings?: Maybe<readonly SettingInfo[]>;
  /** Example requests that send `text` to `agent`, for people to run by hand. Loaded on demand. */
  readonly samples?: Maybe<(text: string, agent: Card) => Promise<readonly SampleCall[]>>;
  /** Additional commands for the command line. Loaded on demand. */
  readonly commands?: Maybe<() => Promise<readonly ProtocolCommand[]>>;
  /** What the specification requires of a server, as checks that run against any URL. Loaded on demand. */
  readonly requirements?: Maybe<() => Promise<readonly Requirement[]>>;
}

/** From a message to its text and back. */
export interface SendCodec {
  /** A send as this wire writes it: what the bench measures. JSON, with all that the wire carries of it. */
  write(send: OperationOf<"send">): string;
  /** What the text does not say is empty. Throws AgentError. */
  read(text: string): OperationOf<"send">;
}

/** What a command of a protocol works with. */
export interface CommandTools {
  /** Where a server with the same store remembers this protocol's things. */
  readonly records: Records;
  readFile(path: string): Promise<Uint8Array>;
}

/** One command of a protocol's own on the command line: `koine <protocol> <words>`. */
export interface ProtocolCommand {
  /** `protocol add`. */
  readonly words: string;
  readonly summary: string;
  /** Named in order; `many` takes all that follow. */
  readonly arguments: readonly { readonly name: string; readonly about: string; readonly many?: Maybe<boolean> }[];
  /** True where it works without any store. */
  readonly storeless?: Maybe<boolean>;
  /** True where it only looks at what is kept. */
  readonly looks?: Maybe<boolean>;
  /** Shown after the help text, one line each. */
  readonly examples: readonly string[];
  /** For people the text, for programs the document. Throws AgentError. */
  run(
    given: readonly string[],
    tools: CommandTools,
  ): Promise<{ readonly text: string; readonly document: JsonObject | readonly JsonObject[] }>;
}

/** A setting of a protocol: for help texts, and to read a value that comes as text. */
export interface SettingInfo {
  readonly name: string;
  readonly kind: "text" | "number" | "boolean";
  /** A value one may give. */
  readonly example: string;
  /** One line for people, with the default. */
  readonly about: string;
}

/** One request by hand, for people to try. */
export interface SampleCall {
  /** The interface it is for; without one it is for the host itself, at a path everybody may assume. */
  readonly wire: Maybe<{ readonly version: string; readonly binding: string }>;
  readonly about: string;
  /** Behind the address of the interface or of the host. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
}

/** Codecs and halves take identity and time from here, never from the air. */
export interface IdSource {
  now(): number;
  newId(): string;
}
