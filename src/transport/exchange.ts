import type { Cancel } from "../envelope/cancel.js";
import type { Envelope } from "../envelope/envelope.js";
import type { Call } from "../envelope/handler.js";
import type { Maybe } from "../envelope/json.js";

/** Request in, response out, at the level of bytes: an HTTP server, a pooled client, a test double, memory. */
export type Exchange = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

export interface Connection {
  readonly remote: string;
  readonly secure: boolean;
  /** The socket's address is a loopback one and nobody forwarded the request. */
  readonly loopback: boolean;
  readonly clientCertificate?: Maybe<Uint8Array>;
}

export interface HttpHeaders {
  readonly [name: string]: Maybe<string>;
}

export interface HttpRequest {
  readonly method: string;
  /** Percent-encoded as received, without query. */
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
  /** Absolute, as the peer addressed it: signatures cover it. On the client side, where the request goes. */
  readonly target: string;
  /** Lower-case names; repeated fields joined. Repetitions that matter are in rawHeaders. */
  readonly headers: HttpHeaders;
  /** Name, value, name, value, as received. */
  readonly rawHeaders: readonly string[];
  /** Whole, bounded, as received: digests are over these bytes. */
  readonly body: Uint8Array;
  /** The body parsed once, with the limits, whoever asks first. Throws AgentError `decode` or `too_large`. */
  json(): unknown;
  readonly connection: Connection;
  /** The other side hung up (server), or the caller gave up (client). */
  readonly cancel: Cancel;
}

export type Chunk = Uint8Array | string;

export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** A whole body, or chunks as they come. Who takes chunks and stops early calls `return()`. */
  readonly body: Maybe<Chunk | AsyncIterable<Chunk>>;
  /** Written by the door while a stream is silent for `everyMs`, so that proxies keep the connection. */
  readonly idle?: Maybe<{ readonly chunk: string; readonly everyMs: number }>;
  trailers?(): { readonly [name: string]: string };
}

/** Two-way frames, such as a WebSocket. `send` waits while the peer is slow. */
export interface Session {
  send(frame: Chunk): Promise<void>;
  readonly frames: AsyncIterable<Chunk>;
  close(code: number, reason: string): void;
  readonly request: HttpRequest;
}

/** For wires whose answer comes back as a call to us. */
export interface Inbox {
  readonly address: string;
  expect(correlation: string, call: Call): Promise<Envelope>;
}

/** What a client half writes to. `close` drains: calls under way end first. */
export interface Link {
  readonly exchange: Exchange;
  open?(url: string, subprotocols: readonly string[]): Promise<Session>;
  readonly inbox?: Maybe<Inbox>;
  close(): Promise<void>;
}

/** True for a body that comes in chunks. */
export function isStream(body: HttpResponse["body"]): body is AsyncIterable<Chunk> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}
