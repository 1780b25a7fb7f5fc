import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream, ServerSessionOptions } from "node:http2";
import type { Socket } from "node:net";
import type { Limits } from "../limits.js";
import type { ExchangeContext } from "./http-exchange.js";
import { Http2Exchange, type Http2ExchangeContext, STREAM_WINDOW_BYTES } from "./http2-exchange.js";
import { http2 } from "./lazy-module.js";
import { LINGER_MS } from "./refuse-early.js";

/** Requests a peer may reset unanswered within the window: opening and resetting streams is free for it (CVE-2023-44487). */
const MAX_RESETS = 256;
const RESET_WINDOW_MS = 10_000;
/** Invalid frames, and streams above the limit, before the session ends. */
const MAX_INVALID_FRAMES = 32;
const MAX_REJECTED_STREAMS = 64;
const HEADER_FIELDS = 128;
const CONNECTION_WINDOW_BYTES = 1024 * 1024;
/** Complete bodies that may be queued on one connection before its new streams are refused. */
const BODIES_QUEUED = 4;
const MEGABYTE = 1024 * 1024;
/** RFC 9113 §6.8: in a first GOAWAY, which leaves open how many requests will be answered. */
const ANY_STREAM = 2 ** 31 - 1;

/** One HTTP/2 connection: guards against abuse and turns every stream into an exchange. */
export class Http2Connection implements Http2ExchangeContext {
  readonly context: ExchangeContext;
  readonly socket: Socket;
  readonly #session: ServerHttp2Session;
  readonly #unsettled: NodeJS.Timeout;
  readonly #idle: NodeJS.Timeout;
  #settings = 0;
  #exchanges = 0;
  #lastRequest: NodeJS.Timeout | undefined;
  #resets = 0;
  #resetWindow: NodeJS.Timeout | undefined;

  constructor(context: ExchangeContext, socket: Socket, closed: (connection: Http2Connection) => void) {
    this.context = context;
    this.socket = socket;
    const { headersMs, idleMs } = context.limits;
    // Node's HTTP/1.1 server leaves its side open when the peer closes; an HTTP/2 session would then never end.
    socket.allowHalfOpen = false;
    this.#unsettled = setTimeout(() => this.destroy(), headersMs);
    const session = http2().performServerHandshake(socket, sessionOptions(context.limits));
    this.#session = session;
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    session.once("remoteSettings", () => this.#settle());
    session.once("localSettings", () => this.#settle());
    session.on("stream", (stream: ServerHttp2Stream, fields: IncomingHttpHeaders, flags: number, raw: readonly string[]) => {
      stream.on("error", ignore);
      // Streams are announced with a delay: this one may have been reset since, and needs no work.
      if (stream.closed) this.requestReset();
      else {
        const hasBody = (flags & http2().constants.NGHTTP2_FLAG_END_STREAM) === 0;
        new Http2Exchange(this, stream, { fields, rawHeaders: raw, hasBody }).begin(fields);
      }
    });
    // Not the session's own timer: it counts pings as activity.
    this.#idle = setTimeout(() => this.#closeIfIdle(), idleMs);
    session.on("error", ignore);
    socket.on("error", ignore);
    session.on("close", () => {
      clearTimeout(this.#unsettled);
      clearTimeout(this.#resetWindow);
      clearTimeout(this.#idle);
      clearTimeout(this.#lastRequest);
      this.#linger();
      closed(this);
    });
  }

  exchangeStarted(): void {
    this.#exchanges++;
  }

  exchangeEnded(): void {
    if (--this.#exchanges > 0) return;
    if (this.#lastRequest === undefined) this.#idle.refresh();
    else this.close();
  }

  requestReset(): void {
    if (++this.#resets > MAX_RESETS) {
      this.#session.destroy(new Error("too many requests were reset"), http2().constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
    this.#resetWindow ??= setTimeout(() => {
      this.#resetWindow = undefined;
      this.#resets = 0;
    }, RESET_WINDOW_MS).unref();
  }

  /** Sends GOAWAY; running requests are answered, then the connection ends. */
  close(): void {
    this.#session.close();
    if (this.#exchanges === 0) this.#linger();
  }

  /** The server shuts down: sends GOAWAY, then closes after the requests that are on their way, within `ms`, were refused. */
  refuse(ms: number): void {
    this.#session.goaway(http2().constants.NGHTTP2_NO_ERROR, ANY_STREAM);
    this.#lastRequest = setTimeout(() => this.close(), ms);
  }

  destroy(): void {
    this.#session.destroy();
    this.socket.destroy();
  }

  /** Restarted by the last exchange that ends. */
  #closeIfIdle(): void {
    if (this.#exchanges === 0) this.close();
  }

  /** The peer must send its settings and acknowledge ours. */
  #settle(): void {
    if (++this.#settings === 2) clearTimeout(this.#unsettled);
  }

  /** A peer that does not close its side would keep the socket half open. */
  #linger(): void {
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }
}

function sessionOptions(limits: Limits): ServerSessionOptions {
  return {
    settings: {
      maxConcurrentStreams: limits.h2Streams,
      maxHeaderListSize: limits.headerBytes,
      initialWindowSize: STREAM_WINDOW_BYTES,
      enablePush: false,
    },
    maxHeaderListPairs: HEADER_FIELDS,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
    maxSessionMemory: Math.ceil((BODIES_QUEUED * limits.bodyBytes) / MEGABYTE) + 1, // in megabytes
  };
}

/** A broken connection or stream is handled when it closes. */
function ignore(): void {}
