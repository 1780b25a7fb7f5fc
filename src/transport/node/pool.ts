import type { LookupFunction } from "node:net";
import type { Dispatcher, Pool } from "undici";
import { AgentError, healthChecks, type Maybe } from "../../envelope/index.js";
import type { HttpRequest, HttpResponse, Link, Session } from "../exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../limits.js";
import { splitTarget } from "../request.js";
import { exchangeSigned } from "../sign.js";
import { Http2Call } from "./http2-call.js";
import { Http2Origin } from "./http2-origin.js";
import { lazyModule } from "./lazy-module.js";
import { type CallOptions, PoolCall } from "./pool-call.js";
import { type ClientTls, clientTls } from "./tls.js";
import { WebSocketClient } from "./websocket-client.js";

/** Options of a connection pool. */
export interface PoolOptions {
  /** Size and time limits. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Maybe<Limits>;
  /**
   * Concurrent requests per origin; a stream is one as long as it is open. Over HTTP/1.1 each has a connection. Also the number of
   * sessions. Default: 4,096.
   */
  readonly connections?: Maybe<number>;
  /** Requests per origin that may wait for a connection; more are refused with `overloaded`. Default: 10,000. */
  readonly waiting?: Maybe<number>;
  /** Called with the number of waiting requests when it changes. */
  readonly onWaiting?: Maybe<(depth: number) => void>;
  /** Origins with open connections at a time. */
  readonly origins?: Maybe<number>;
  /** Time limit of opening a connection. Default: 10 s. */
  readonly connectTimeoutMs?: Maybe<number>;
  /** From the last byte of the request to the response head. Default: 5 minutes. */
  readonly headersTimeoutMs?: Maybe<number>;
  /** The longest pause within a response. Default: 5 minutes. */
  readonly bodyIdleMs?: Maybe<number>;
  /** Checks whether this URL may be called, before anything is sent. Throws AgentError if not. */
  readonly guard?: Maybe<(url: string) => void | Promise<void>>;
  /** Resolves names for new connections. Addresses can be refused here, because the result is what is dialled. */
  readonly lookup?: Maybe<LookupFunction>;
  /** TLS options of connections. Default: the system's CAs. RSA keys under 2,048 bits are refused unless `ciphers` says otherwise. */
  readonly tls?: Maybe<ClientTls>;
  /** Receives errors of the observers of sessions. */
  readonly onError?: Maybe<(thrown: unknown) => void>;
}

interface Origin {
  readonly pool: Pool;
  /** Opened by the first request that needs it. */
  http2: Http2Origin | undefined;
  readonly options: CallOptions;
  live: number;
  /** For checks of the connection while all others are in use. Opened by the first. */
  spare: Pool | undefined;
  /** The link's request counter at last use: the smallest is the least recently used. */
  used: number;
}

/** As many streams as a gateway is tested with; each takes a file descriptor. */
const CONNECTIONS = 4_096;
const WAITING = 10_000;
const ORIGINS = 256;
const CONNECT_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 300_000;
const BODY_IDLE_MS = 300_000;

/** A link over pooled connections: HTTP/2 for gRPC, HTTP/1.1 otherwise. Never sends twice or follows redirects, and reports what may have been sent. */
export function poolLink(options: PoolOptions = {}): Required<Link> {
  return new PooledLink(options);
}

class PooledLink implements Link {
  readonly exchange = (request: HttpRequest): Promise<HttpResponse> =>
    request.signer === undefined ? this.#exchange(request) : exchangeSigned(request, (final) => this.#exchange(final));
  readonly open = (request: HttpRequest, subprotocols: readonly string[]): Promise<Session> =>
    this.#sessions.open(request, subprotocols);
  readonly #sessions: WebSocketClient;
  readonly #options: PoolOptions;
  readonly #tls: ClientTls;
  readonly #limits: Limits;
  readonly #connections: number;
  readonly #most: number;
  readonly #origins = new Map<string, Origin>();
  #uses = 0;
  #closed: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#tls = clientTls(options.tls);
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#connections = options.connections ?? CONNECTIONS;
    this.#most = this.#connections + (options.waiting ?? WAITING);
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS, guard, lookup, onError } = options;
    this.#sessions = new WebSocketClient({
      limits: this.#limits,
      sessions: this.#connections,
      connectTimeoutMs,
      guard,
      lookup,
      tls: this.#tls,
      onError,
    });
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all([this.#drain(), this.#sessions.close()]).then(() => undefined);
    return this.#closed;
  }

  #exchange(request: HttpRequest): Promise<HttpResponse> {
    const { guard } = this.#options;
    if (guard === undefined) return this.#send(request);
    try {
      // Usually synchronous, for a known address; the call is then registered before the link can be closed.
      const checking = guard(request.target);
      return checking === undefined ? this.#send(request) : checking.then(() => this.#send(request));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #send(request: HttpRequest): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (request.cancel.reason !== undefined) throw request.cancel.reason;
      const { origin, path, query } = splitTarget(request.target);
      if (this.#closed !== undefined) throw new AgentError("unavailable", "the link is closed", { sent: "no" });
      const entry = this.#origins.get(origin) ?? this.#open(origin);
      entry.used = ++this.#uses;
      if (entry.live >= this.#connections && this.#sendAside(origin, entry, request, resolve, reject)) return;
      entry.live++;
      if (isGrpc(request)) {
        entry.http2 ??= this.#openHttp2(origin, entry.options.host);
        entry.http2.dispatch(new Http2Call(request, entry.options, resolve, reject));
        return;
      }
      const call = new PoolCall(request, entry.options, resolve, reject);
      call.dispatch = () => entry.pool.dispatch(dispatched(request, query === "" ? path : `${path}?${query}`), call);
      call.dispatch();
    });
  }

  /**
   * All connections are in use. A check of the connection has one of its own, because it must not wait behind calls: true if the request
   * was one. Others wait, as far as there is room.
   */
  #sendAside(origin: string, entry: Origin, request: HttpRequest, ...settle: Settle): boolean {
    if (healthChecks.of(request.call) === true) {
      const options = { ...entry.options, ended: () => undefined };
      if (isGrpc(request)) {
        entry.http2 ??= this.#openHttp2(origin, options.host);
        entry.http2.dispatch(new Http2Call(request, options, ...settle), true);
        return true;
      }
      entry.spare ??= this.#openPool(origin, 1);
      const { path, query } = splitTarget(request.target);
      entry.spare.dispatch(
        dispatched(request, query === "" ? path : `${path}?${query}`),
        new PoolCall(request, options, ...settle),
      );
      return true;
    }
    const waiting = entry.live - this.#connections;
    if (entry.live >= this.#most)
      throw new AgentError("overloaded", `${waiting} requests to ${entry.options.host} are already waiting`, { sent: "no" });
    this.#options.onWaiting?.(waiting + 1);
    return false;
  }

  #open(origin: string): Origin {
    if (this.#origins.size >= (this.#options.origins ?? ORIGINS)) this.#makeRoom();
    const { headersTimeoutMs = HEADERS_TIMEOUT_MS, bodyIdleMs = BODY_IDLE_MS } = this.#options;
    const entry: Origin = {
      pool: this.#openPool(origin, this.#connections),
      spare: undefined,
      http2: undefined,
      options: {
        host: origin.slice(origin.indexOf("://") + 3),
        secure: origin.startsWith("https:"),
        bodyBytes: this.#limits.bodyBytes,
        jsonLimits: this.#limits,
        headersTimeoutMs,
        bodyIdleMs,
        ended: () => this.#ended(entry),
      },
      live: 0,
      used: 0,
    };
    this.#origins.set(origin, entry);
    return entry;
  }

  #openPool(origin: string, connections: number): Pool {
    const { connectTimeoutMs, headersTimeoutMs = HEADERS_TIMEOUT_MS, bodyIdleMs = BODY_IDLE_MS, lookup } = this.#options;
    return openPool(origin, {
      connections,
      // One request at a time per connection: a broken connection affects no other request, and none is requeued.
      pipelining: 1,
      maxHeaderSize: this.#limits.headerBytes,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyIdleMs,
      connect: {
        ...this.#tls,
        timeout: connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
        ...(lookup === undefined ? undefined : { lookup }),
      },
    });
  }

  #openHttp2(origin: string, host: string): Http2Origin {
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS, lookup } = this.#options;
    const { headerBytes } = this.#limits;
    const requests = this.#connections;
    return new Http2Origin({ origin, host, connectTimeoutMs, headerBytes, lookup, tls: this.#tls, requests });
  }

  /** Closes the connections of the least recently used idle origin. */
  #makeRoom(): void {
    let oldest: readonly [string, Origin] | undefined;
    for (const each of this.#origins) {
      if (each[1].live === 0 && (oldest === undefined || each[1].used < oldest[1].used)) oldest = each;
    }
    if (oldest === undefined) {
      throw new AgentError("overloaded", `${this.#origins.size} hosts are being called at once, which is the limit`, {
        sent: "no",
      });
    }
    this.#origins.delete(oldest[0]);
    oldest[1].pool.close().catch(() => undefined);
    oldest[1].spare?.close().catch(() => undefined);
    oldest[1].http2?.close();
  }

  /** Waits for the calls themselves: a pool that is closed and then destroyed never reports it while requests are queued. */
  async #drain(): Promise<void> {
    const origins = [...this.#origins.values()];
    if (origins.some(({ live }) => live > 0)) {
      await new Promise<void>((resolve) => {
        const cut = setTimeout(resolve, this.#limits.drainMs);
        this.#drained = () => {
          clearTimeout(cut);
          resolve();
        };
      });
    }
    for (const { http2, options } of origins) {
      http2?.destroy(new AgentError("unavailable", `the connections to ${options.host} were closed`, { sent: "no" }));
    }
    await Promise.allSettled(
      origins.flatMap(({ pool, spare }) => [pool, ...(spare === undefined ? [] : [spare])].map((each) => each.destroy())),
    );
  }

  #ended(origin: Origin): void {
    origin.live--;
    if (origin.live >= this.#connections) this.#options.onWaiting?.(origin.live - this.#connections);
    if (this.#drained === undefined || origin.live > 0) return;
    for (const { live } of this.#origins.values()) if (live > 0) return;
    this.#drained();
  }
}

type Settle = readonly [resolve: (response: HttpResponse) => void, reject: (thrown: unknown) => void];

function dispatched({ method, headers, body }: HttpRequest, path: string): Dispatcher.DispatchOptions {
  return {
    path,
    method,
    // undici types its headers as mutable but only reads them, and omits undefined ones.
    headers: headers as Record<string, string>,
    body: body.length === 0 ? null : body,
    idempotent: false,
  };
}

/** gRPC needs trailers, which only HTTP/2 supports reliably. */
function isGrpc({ headers }: HttpRequest): boolean {
  return headers["content-type"]?.startsWith("application/grpc") === true;
}

/**
 * Servers may never need it. The pool alone: the whole package also loads fetch, cookies, caches and WebSockets, which is three times the time,
 * and an agent that was started again pays for it before its first call. The version of undici is pinned, and it has no `exports`.
 */
const poolModule = lazyModule<typeof Pool>("undici/lib/dispatcher/pool.js");

function openPool(origin: string, options: Pool.Options): Pool {
  try {
    return new (poolModule())(origin, options);
  } catch (cause) {
    throw new AgentError("invalid_message", `${JSON.stringify(origin)} is not an http or https URL`, { sent: "no", cause });
  }
}
