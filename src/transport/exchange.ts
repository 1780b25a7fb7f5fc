import type { Cancel } from "../envelope/cancel.js";
import type { AgentError } from "../envelope/error.js";
import type { Admitted, Call, Principal } from "../envelope/handler.js";
import type { Awaitable, Maybe } from "../envelope/json.js";
import type { JsonLimits } from "./json.js";

/** An HTTP-like exchange of bytes, implemented by a server, a pooled client, a test double or the memory transport. */
export type Exchange = (request: HttpRequest) => Awaitable<HttpResponse>;

export interface Connection {
  readonly remote: string;
  readonly secure: boolean;
  /** The socket's address is a loopback address and the request was not forwarded. */
  readonly loopback: boolean;
  readonly clientCertificate?: Maybe<Uint8Array>;
  /** Why the certificate that the client presented is not its identity: OpenSSL's code, such as `CERT_REVOKED`. */
  readonly clientCertificateProblem?: Maybe<string>;
}

/** Header fields by lower-case name. */
export interface HttpHeaders {
  readonly [name: string]: Maybe<string>;
}

/** An HTTP request without its body. Client and server use one object for head and request. */
export interface RequestHead {
  readonly method: string;
  /** Percent-encoded as received, without query. */
  readonly path: string;
  /** Without the question mark; empty if there is none. */
  readonly query: string;
  /** The absolute URL as the peer addressed it, which signatures cover. On the client side, the destination. */
  readonly target: string;
  /** Lower-case names; repeated fields joined. `rawHeaders` has the repetitions. */
  readonly headers: HttpHeaders;
  /** Name, value, name, value, as received. */
  readonly rawHeaders: readonly string[];
  readonly connection: Connection;
  /** Cancelled when the peer disconnects (server) or the caller cancels (client). */
  readonly cancel: Cancel;
  /** Client: the call that sends it. Server: the call it became, written by `host.begin`; of a batch, the first. */
  call: Maybe<Call>;
  /** Server: the one decision about the caller, written by the host. A refusal is a rejected promise. */
  admitted: Maybe<Awaitable<Admitted>>;
}

/** An HTTP request, independent of the server that received it. */
export interface HttpRequest extends RequestHead {
  /** The complete body as received, within the limits: digests cover these bytes. */
  readonly body: Uint8Array;
  /** Server: the body as it arrives, where the route streams requests and the transport can; `body` is then empty. */
  readonly arriving?: Maybe<AsyncIterable<Uint8Array>>;
  /** The parsed body, within the limits, parsed once. Throws AgentError `decode` or `too_large`. */
  json(): unknown;
  /** Server: nobody reads the body any more, which is then empty. A protocol that has decoded it calls this before it answers with a stream. */
  forgetBody?(): void;
  /** Server: the length of the body, also of one that was forgotten. */
  readonly bodyBytes?: number;
  /** Client: signs the final request, anew for every sending. */
  readonly signer: Maybe<RequestSigner>;
}

/** Signs requests at the lowest end of a link: after credentials and address rewriting, on the final bytes. */
export interface RequestSigner {
  /** The DID that signs, and the one whose signature `verify` demands: for whoever shows messages. */
  readonly did?: Maybe<string>;
  readonly peerDid?: Maybe<string>;
  /** Header fields to add to the final request. */
  sign(final: HttpRequest): Awaitable<HttpHeaders>;
  /** Checks the response before anything else reads it. Throws AgentError. */
  verify?(response: HttpResponse, request: HttpRequest): Awaitable<HttpResponse>;
}

/** A received request whose body has not been read yet. */
export interface UnreadRequest extends RequestHead {
  readonly hasBody: boolean;
  /** The request without its body: reading the body throws the reason. */
  refuseBody(reason: AgentError): HttpRequest;
  /** Whether something tried to read the refused body. */
  readonly bodyWanted: boolean;
}

export type Chunk = Uint8Array | string;

/** An HTTP response, independent of the server that sends it. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** A complete body, or chunks as they arrive. A consumer that stops early calls `return()`. */
  readonly body: Maybe<Chunk | AsyncIterable<Chunk>>;
  /** Written while a stream is silent for `everyMs`, so that proxies keep the connection open. */
  readonly idle?: Maybe<{ readonly chunk: string; readonly everyMs: number }>;
  trailers?(): { readonly [name: string]: string };
  /** Client: the limits of its JSON, set by the link that received it. */
  readonly jsonLimits?: Maybe<JsonLimits>;
  /** Called last, on the final status, headers and body (of a stream without digest): header fields to add. */
  sign?(final: HttpResponse, request: RequestHead): Awaitable<HttpHeaders>;
}

/** The server behind a listener. A response refuses: the body is not read, the upgrade is not accepted. */
export interface Intake {
  /** Decides by the head alone what is done with the body. */
  take(request: UnreadRequest): Awaitable<Taken | HttpResponse>;
  /** The response to a request that is not taken, for example because the server closes. Absent: one in no protocol's form. */
  refuse?(request: UnreadRequest, reason: AgentError): Awaitable<HttpResponse>;
  /** Accepts or refuses a WebSocket. Absent: upgrades are not supported. */
  upgrade?(request: RequestHead): Awaitable<Upgraded | HttpResponse>;
}

/** What happens with the body of a request. */
export interface Taken {
  /** The body limit. */
  readonly bodyBytes: number;
  /** Names it in the refusal of a longer body, and says how large content is sent. */
  readonly limit?: Maybe<string>;
  /** The caller is authenticated by the body: its bytes count in `unadmittedBytes` until then. */
  readonly unadmitted: boolean;
  /** The exchange runs before the body has arrived, and reads `arriving`. */
  readonly streamed?: Maybe<boolean>;
  readonly exchange: Exchange;
}

/** An accepted upgrade. Exactly one of `accept` and `abandon` is called. */
export interface Upgraded {
  /** The selected subprotocol, if any. */
  readonly subprotocol: Maybe<string>;
  /** Header fields to add to the 101 response. */
  readonly headers: HttpHeaders;
  /** Runs the session; it is closed when the promise settles. */
  accept(session: Session): Promise<void>;
  /** The peer disconnected before the session began. */
  abandon(): void;
}

/** Bidirectional messages, such as those of a WebSocket. */
export interface Session {
  /** The upgrade request. */
  readonly request: RequestHead;
  /** Empty if none was selected. */
  readonly subprotocol: string;
  /**
   * Received messages, text as string and binary as bytes, for one reader. Reading slowly slows the sender down. Ends with the session;
   * `closed` says how. After a reader that stopped early, messages are discarded.
   */
  readonly frames: AsyncIterable<Chunk>;
  /** Sends a message. Undefined while there is room; otherwise wait for the promise. `call`: the call it belongs to. */
  send(frame: Chunk, call?: Maybe<Call>): Maybe<Promise<void>>;
  /** Tells observers to which call a received message belongs. */
  assign(frame: Chunk, call: Call): void;
  /** Tells observers that the messages of calls are sealed, and by whom. */
  markSealed(seal: SessionSeal): void;
  /** Adds an observer of the messages, those that wait to be read included. */
  tap(tap: SessionTap): void;
  /**
   * Keeps the session open while a call runs, until the returned function is called. The host holds it while the agent works; a
   * protocol holds it until the answer is sent.
   */
  hold(): () => void;
  /** Closes the session with 1001 as soon as nothing holds it. */
  shutDown(reason: string): void;
  /** Starts the closing handshake. What was received and not read is discarded. */
  close(code: number, reason: string): void;
  readonly closed: Promise<SessionEnd>;
}

/** Observes a session. Called synchronously; must not throw. */
export interface SessionTap {
  received?(frame: Chunk, bytes: number): void;
  assigned?(frame: Chunk, call: Call): void;
  sealed?(seal: SessionSeal): void;
  sent?(frame: Chunk, bytes: number, call: Maybe<Call>): void;
  ended?(end: SessionEnd): void;
}

/** Who seals the messages of a session: the DIDs that both sides proved to each other. */
export interface SessionSeal {
  readonly own: string;
  readonly peer: string;
}

/** A session that is passed on unopened. */
export interface RelayedSessionFacts {
  /** The agent whose peer it is passed on to. */
  readonly agent: string;
  readonly protocol: string;
  /** Who was admitted to the relay. */
  readonly caller: Principal;
  /** The DID that the caller says it is: it proves it to the agent, not to the relay. */
  readonly claims: string;
}

/** How a session ended. */
export interface SessionEnd {
  /** RFC 6455 §7.4, as sent by the side that closed first; 1006 if the connection broke before either side closed. */
  readonly code: number;
  readonly reason: string;
  /** Both sides completed the closing handshake. */
  readonly clean: boolean;
}

/** One received message of a session, from which `host.begin` creates a call. */
export interface SessionMessage {
  readonly session: Session;
  readonly frame: Chunk;
  readonly hops: number;
  readonly cancel: Cancel;
}

/** The transport of a protocol client. `close` drains: running calls complete first. */
export interface Link {
  readonly exchange: Exchange;
  /** Opens a session with an upgrade request. Absent: the transport has none. */
  open?(request: HttpRequest, subprotocols: readonly string[]): Promise<Session>;
  close(): Promise<void>;
}

/** True for a streamed body. */
export function isStream(body: HttpResponse["body"]): body is AsyncIterable<Chunk> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}

/** The same response with another body: for those who observe a stream. Responses may be instances, which a spread does not copy. */
export function withBody(response: HttpResponse, body: HttpResponse["body"]): HttpResponse {
  const { status, headers, idle, jsonLimits } = response;
  return {
    status,
    headers,
    body,
    idle,
    jsonLimits,
    ...(response.trailers && { trailers: () => response.trailers?.() ?? {} }),
    ...(response.sign && { sign: (final, request) => response.sign?.(final, request) ?? {} }),
  };
}

/** Counts connections that wait for their handshake, for metrics. */
export interface HandshakeSink {
  waiting(change: 1 | -1): void;
  /** Closed because its turn did not come in time. */
  refused(): void;
}
