import type { Cancel } from "../envelope/cancel.js";
import type { Envelope } from "../envelope/envelope.js";
import type { Call } from "../envelope/handler.js";
import type { Maybe } from "../envelope/json.js";

/** An HTTP-like exchange of bytes, implemented by a server, a pooled client, a test double or the memory transport. */
export type Exchange = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

export interface Connection {
  readonly remote: string;
  readonly secure: boolean;
  /** The socket's address is a loopback address and the request was not forwarded. */
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
  /** Without the question mark; empty if there is none. */
  readonly query: string;
  /** The absolute URL as the peer addressed it, which signatures cover. On the client side, the destination. */
  readonly target: string;
  /** Lower-case names; repeated fields joined. `rawHeaders` has the repetitions. */
  readonly headers: HttpHeaders;
  /** Name, value, name, value, as received. */
  readonly rawHeaders: readonly string[];
  /** The complete body as received, within the limits: digests cover these bytes. */
  readonly body: Uint8Array;
  /** The parsed body, within the limits, parsed once. Throws AgentError `decode` or `too_large`. */
  json(): unknown;
  readonly connection: Connection;
  /** Cancelled when the peer disconnects (server) or the caller cancels (client). */
  readonly cancel: Cancel;
}

export type Chunk = Uint8Array | string;

export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** A complete body, or chunks as they arrive. A consumer that stops early calls `return()`. */
  readonly body: Maybe<Chunk | AsyncIterable<Chunk>>;
  /** Written while a stream is silent for `everyMs`, so that proxies keep the connection open. */
  readonly idle?: Maybe<{ readonly chunk: string; readonly everyMs: number }>;
  trailers?(): { readonly [name: string]: string };
}

/** Bidirectional frames, such as a WebSocket. `send` waits while the peer is slow. */
export interface Session {
  send(frame: Chunk): Promise<void>;
  readonly frames: AsyncIterable<Chunk>;
  close(code: number, reason: string): void;
  readonly request: HttpRequest;
}

/** For protocols whose answer arrives as a separate request. */
export interface Inbox {
  readonly address: string;
  expect(correlation: string, call: Call): Promise<Envelope>;
}

/** The transport of a protocol client. `close` drains: running calls complete first. */
export interface Link {
  readonly exchange: Exchange;
  open?(url: string, subprotocols: readonly string[]): Promise<Session>;
  readonly inbox?: Maybe<Inbox>;
  close(): Promise<void>;
}

/** True for a streamed body. */
export function isStream(body: HttpResponse["body"]): body is AsyncIterable<Chunk> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}
