import type { Json, JsonObject, Maybe } from "../../envelope/index.js";

/**
 * ANP 1.2 as the SDK `anp` 1.0.7 speaks it, with Koine's own methods on the described interface. Addresses of a server:
 *
 *   GET  /.well-known/did.json, /{path of the DID}/did.json     the did:wba document (ANP-03)
 *   GET  /anp/ad.json, /anp/agents/{name}/ad.json               the agent description (ANP-07)
 *   GET  /anp/interface.json, /anp/agents/{name}/interface.json its interface in OpenRPC
 *   POST /anp/rpc, /anp/agents/{name}/rpc                       JSON-RPC 2.0: the methods below, and those of messaging (P1, P3)
 *   WebSocket at the same addresses                             an encrypted session with the same messages, see `session/`
 *   GET  /.well-known/agent-descriptions                        the pages of discovery (ANP-08)
 *   POST /anp/message, WebSocket at /ws                         the plain form of the seeds
 *   GET  /v1/did/{did}                                          the document for the old session, see `legacy-session/`
 */
export const BASE = "/anp";
export const AGENTS_BASE = `${BASE}/agents`;
export const RPC = "rpc";
export const DESCRIPTION = "ad.json";
export const INTERFACE = "interface.json";
export const MESSAGE_PATH = `${BASE}/message`;
/** Sessions of the plain form, and old ones. */
export const SESSION_PATH = "/ws";
export const DISCOVERY_PATH = "/.well-known/agent-descriptions";

export const PROTOCOL = "anp";
export const VERSION = "1.2";
/** The seeds' form, which proves nothing and seals nothing. */
export const PLAIN = "plain";
/** The encrypted session of agent-connect 0.3, only with the setting `legacySession`. */
export const LEGACY = "legacy";

/**
 * The bindings: `JSONRPC` are Koine's methods by signed HTTP requests, `WS` the same in an encrypted session. The others are of peers
 * that have no more: `OPENRPC` calls the methods that a description names, `DIRECT` sends messages (P3), `PLAIN` is the seeds' form by
 * HTTP. The other versions have a `WS` of their own.
 */
export type Binding = "JSONRPC" | "WS" | "OPENRPC" | "DIRECT" | "PLAIN";

/** Koine's methods, in the description of every agent. Each carries one operation. */
export const METHODS = {
  send: "koine.send",
  "task.get": "koine.task.get",
  "task.list": "koine.task.list",
  "task.cancel": "koine.task.cancel",
  "task.subscribe": "koine.task.subscribe",
  card: "koine.card",
  ping: "koine.ping",
} as const;
export type OperationName = keyof typeof METHODS;

/** One text in, one text out: for callers that know nothing but the description. */
export const ASK = "ask";

/** The methods of messaging and of the meta-protocol. */
export const MESSAGING = {
  capabilities: "anp.get_capabilities",
  negotiate: "anp.negotiate",
  direct: "direct.send",
} as const;

/** The service of a DID document that takes direct messages. */
export const MESSAGE_SERVICE = "ANPMessageService";

/** A part: exactly one of the first four. */
export interface WirePart {
  readonly text?: Maybe<string>;
  readonly data?: Maybe<Json>;
  /** Base64. */
  readonly raw?: Maybe<string>;
  readonly url?: Maybe<string>;
  readonly mediaType?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly metadata?: Maybe<JsonObject>;
}

/** A message. A message of a caller needs nothing but its parts. */
export interface WireMessage {
  readonly id?: Maybe<string>;
  readonly role?: Maybe<"user" | "agent">;
  readonly parts: readonly WirePart[];
  readonly sessionId?: Maybe<string>;
  readonly taskId?: Maybe<string>;
  readonly parentId?: Maybe<string>;
  readonly references?: Maybe<readonly string[]>;
  readonly extensions?: Maybe<readonly string[]>;
  readonly metadata?: Maybe<JsonObject>;
  /** The members of the envelope beside these, under their UTE names. */
  readonly envelope?: Maybe<JsonObject>;
}

/** The claims and times of the security here. */
export const TIMES = {
  /** From `created` to `expires` of a signature, and the age of a `DIDWba` header. */
  lifetimeMs: 300_000,
  /** How far in the future a signature may be, as in the SDK. */
  skewMs: 60_000,
  /** Of an access token. */
  tokenMs: 3_600_000,
} as const;
