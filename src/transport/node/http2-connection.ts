import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerSessionOptions,
} from "node:http2";
import type { Socket } from "node:net";
import type { Limits } from "../limits.js";
import type { ExchangeContext } from "./http-exchange.js";
import { Http2Exchange, type Http2ExchangeContext } from "./http2-exchange.js";
import { LINGER_MS } from "./refuse-early.js";

/** Requests a peer may take back unanswered within the window: opening and resetting streams costs it nothing (CVE-2023-44487). */
const TAKEN_BACK = 256;
const TAKEN_BACK_WINDOW_MS = 10_000;
/** Frames that break the rules, and streams above the limit, before the session ends. */
const INVALID_FRAMES = 32;
const REJECTED_STREAMS = 64;
const HEADER_FIELDS = 128;
/** How much of a body a peer may send ahead of our reading. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const CONNECTION_WINDOW_BYTES = 1024 * 1024;
/** Whole bodies that may wait to leave on one connection before its new streams are refused. */
const BODIES_QUEUED = 4;
const MEGABYTE = 1024 * 1024;

/** One HTTP/2 connection: watches over what the peer does with it, and makes every stream a passage. */
export class Http2Connection implements Http2ExchangeContext {
  readonly door: ExchangeContext;
  readonly socket: Socket;
  readonly #session: ServerHttp2Session;
  readonly #unsettled: NodeJS.Timeout;
  readonly #idle: NodeJS.Timeout;
  #settings = 0;
  #passages = 0;
  #takenBack = 0;
  #forget: NodeJS.Timeout | undefined;

  constructor(door: ExchangeContext, socket: Socket, closed: (connection: Http2Connection) => void) {
    this.door = door;
    this.socket = socket;
    const { headersMs, idleMs } = door.limits;
    // Node's HTTP/1.1 server leaves its side open when the peer ends its own; an HTTP/2 session would then never end.
    socket.allowHalfOpen = false;
    this.#unsettled = setTimeout(() => this.destroy(), headersMs);
    const session = performServerHandshake(socket, sessionOptions(door.limits));
    this.#session = session;
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    session.once("remoteSettings", () => this.#settle());
    session.once("localSettings", () => this.#settle());
    session.on("stream", (stream: ServerHttp2Stream, fields: IncomingHttpHeaders, flags: number, raw: readonly string[]) => {
      stream.on("error", ignore);
      // Streams are told of later than they come: it may have been reset since, and then nobody needs to work for it.
      if (stream.closed) this.takenBack();
      else new Http2Exchange(this, stream, fields, raw).begin(fields, (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0);
    });
    // Not the session's own timer: for that one a peer that only pings is never idle.
    this.#idle = setTimeout(() => this.#closeIfIdle(), idleMs);
    session.on("error", ignore);
    socket.on("error", ignore);
    session.on("close", () => {
      clearTimeout(this.#unsettled);
      clearTimeout(this.#forget);
      clearTimeout(this.#idle);
      this.#linger();
      closed(this);
    });
  }

  entered(): void {
    this.#passages++;
  }

  left(): void {
    if (--this.#passages === 0) this.#idle.refresh();
  }

  takenBack(): void {
    if (++this.#takenBack > TAKEN_BACK) {
      this.#session.destroy(new Error("too many requests were taken back"), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
    this.#forget ??= setTimeout(() => {
      this.#forget = undefined;
      this.#takenBack = 0;
    }, TAKEN_BACK_WINDOW_MS).unref();
  }

  /** Says that no more requests are taken; those under way are answered, then the connection ends. */
  close(): void {
    this.#session.close();
    if (this.#passages === 0) this.#linger();
  }

  destroy(): void {
    this.#session.destroy();
    this.socket.destroy();
  }

  /** The last passage to leave starts the time anew. */
  #closeIfIdle(): void {
    if (this.#passages === 0) this.close();
  }

  /** The peer must send its settings and acknowledge ours. */
  #settle(): void {
    if (++this.#settings === 2) clearTimeout(this.#unsettled);
  }

  /** A peer that does not close its side would keep the socket half open for ever. */
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
    maxSessionInvalidFrames: INVALID_FRAMES,
    maxSessionRejectedStreams: REJECTED_STREAMS,
    maxSessionMemory: Math.ceil((BODIES_QUEUED * limits.bodyBytes) / MEGABYTE) + 1, // in megabytes
  };
}

/** A connection or a stream that breaks is seen at its close. */
function ignore(): void {}
