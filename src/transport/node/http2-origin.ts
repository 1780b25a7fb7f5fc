import type { ClientHttp2Session } from "node:http2";
import type { AgentError } from "../../envelope/index.js";
import type { Http2Call, Http2CallContext } from "./http2-call.js";
import { type DialOptions, dialHttp2 } from "./http2-dial.js";

/** Connections to one origin, at least; each carries as many requests as the peer allows. */
const FEWEST_SESSIONS = 8;
/** RFC 9113 §6.5.2 recommends that peers allow no fewer. */
const USUAL_STREAMS = 100;
/** Concurrent requests on one connection, if the peer allows more. */
const STREAMS = 256;
/** Shorter than most servers' idle timeout, so that requests rarely meet a closing connection. */
const SESSION_IDLE_MS = 10_000;

interface Connection extends Http2CallContext {
  streams: number;
  lastProcessed: number;
  idle: NodeJS.Timeout;
}

export interface Http2OriginOptions extends DialOptions {
  /** Concurrent requests on all connections. */
  readonly requests: number;
}

/** The HTTP/2 connections to one origin and its queued calls. The link bounds the queue. */
export class Http2Origin {
  readonly #options: Http2OriginOptions;
  readonly #mostSessions: number;
  readonly #connections = new Set<Connection>();
  readonly #waiting = new Set<Http2Call>();
  #dialling = 0;
  #running = 0;
  #closed = false;

  constructor(options: Http2OriginOptions) {
    this.#options = options;
    this.#mostSessions = Math.max(FEWEST_SESSIONS, Math.ceil(options.requests / USUAL_STREAMS));
  }

  /** `beyond`: does not wait for the other requests, as long as a connection has room. */
  dispatch(call: Http2Call, beyond = false): void {
    if (call.ended) return;
    const connection = this.#connectionWithRoom(beyond);
    if (connection !== undefined) this.#begin(call, connection);
    else {
      this.#waiting.add(call);
      call.onAbandoned = () => this.#waiting.delete(call);
      this.#dialIfNeeded();
    }
  }

  /** Lets running calls end; no new ones may start. */
  close(): void {
    this.#closed = true;
    for (const { session } of this.#connections) session.close();
  }

  /** Fails all queued and running calls. */
  destroy(reason: AgentError): void {
    this.#closed = true;
    for (const call of this.#waiting) call.fail(reason);
    // With a reason; without one, running streams would appear to end normally.
    for (const { session } of this.#connections) session.destroy(reason);
  }

  #begin(call: Http2Call, connection: Connection): void {
    if (++connection.streams === 1) connection.session.ref();
    this.#running++;
    call.begin(connection, () => {
      this.#running--;
      if (--connection.streams === 0) {
        connection.session.unref();
        connection.idle.refresh();
      }
      this.#serveWaiting();
    });
  }

  #connectionWithRoom(beyond = false): Connection | undefined {
    if (!beyond && this.#running >= this.#options.requests) return undefined;
    for (const connection of this.#connections) if (connection.streams < roomOf(connection)) return connection;
    return undefined;
  }

  #serveWaiting(): void {
    for (const call of this.#waiting) {
      const connection = this.#connectionWithRoom();
      if (connection === undefined) break;
      this.#waiting.delete(call);
      this.#begin(call, connection);
    }
    this.#dialIfNeeded();
  }

  #dialIfNeeded(): void {
    if (this.#closed || this.#waiting.size <= this.#dialling * STREAMS || this.#running >= this.#options.requests) return;
    if (this.#connections.size + this.#dialling >= this.#mostSessions) return;
    this.#dialling++;
    dialHttp2(this.#options).then(
      (session) => this.#connected(session),
      (error: AgentError) => this.#notConnected(error),
    );
  }

  #connected(session: ClientHttp2Session): void {
    this.#dialling--;
    if (this.#closed) {
      session.destroy();
      return;
    }
    const whenIdle = (): void => {
      if (connection.streams === 0) session.close();
    };
    const idle = setTimeout(whenIdle, SESSION_IDLE_MS).unref();
    const connection: Connection = { session, streams: 0, lastProcessed: Number.POSITIVE_INFINITY, idle };
    session.on("goaway", (_code: number, lastStreamId: number) => {
      connection.lastProcessed = lastStreamId;
    });
    // The peer may change its limit at any time.
    session.on("remoteSettings", () => this.#serveWaiting());
    session.on("close", () => {
      clearTimeout(idle);
      this.#connections.delete(connection);
      this.#serveWaiting();
    });
    session.unref();
    this.#connections.add(connection);
    this.#serveWaiting();
  }

  /** Queued calls fail only if no other connection exists or is being opened. */
  #notConnected(error: AgentError): void {
    this.#dialling--;
    if (this.#connections.size + this.#dialling > 0) return;
    for (const call of this.#waiting) call.fail(error);
  }
}

function roomOf({ session, lastProcessed }: Connection): number {
  if (session.closed || session.destroyed || lastProcessed !== Number.POSITIVE_INFINITY) return 0;
  return Math.min(STREAMS, session.remoteSettings.maxConcurrentStreams ?? STREAMS);
}
