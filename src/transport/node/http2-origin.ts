import type { ClientHttp2Session } from "node:http2";
import type { AgentError } from "../../envelope/index.js";
import type { Http2Call, Http2CallContext } from "./http2-call.js";
import { type DialOptions, dialHttp2 } from "./http2-dial.js";

/** Connections to one origin; each carries as many requests as the peer allows. */
const SESSIONS = 8;
/** Requests on one connection, should the peer allow more. */
const STREAMS = 256;
/** Shorter than most servers wait, so that we rarely write to a connection that is being closed. */
const SESSION_IDLE_MS = 10_000;

interface Line extends Http2CallContext {
  streams: number;
  lastTaken: number;
  idle: NodeJS.Timeout;
}

/** The HTTP/2 connections to one origin, and the calls that wait for room on them. The link bounds how many may wait. */
export class Http2Origin {
  readonly #options: DialOptions;
  readonly #lines = new Set<Line>();
  readonly #waiting = new Set<Http2Call>();
  #dialling = 0;
  #closed = false;

  constructor(options: DialOptions) {
    this.#options = options;
  }

  dispatch(call: Http2Call): void {
    if (call.over) return;
    const line = this.#lineWithRoom();
    if (line !== undefined) this.#begin(call, line);
    else {
      this.#waiting.add(call);
      call.onAbandoned = () => this.#waiting.delete(call);
      this.#dialIfNeeded();
    }
  }

  /** Lets calls under way end; nothing new may come. */
  close(): void {
    this.#closed = true;
    for (const { session } of this.#lines) session.close();
  }

  /** Whoever still waits, or is under way, fails. */
  destroy(reason: AgentError): void {
    this.#closed = true;
    for (const call of this.#waiting) call.fail(reason);
    // With a reason, because without one the streams under way would seem to have ended well.
    for (const { session } of this.#lines) session.destroy(reason);
  }

  #begin(call: Http2Call, line: Line): void {
    if (++line.streams === 1) line.session.ref();
    call.begin(line, () => {
      if (--line.streams === 0) {
        line.session.unref();
        line.idle.refresh();
      }
      this.#serveWaiting();
    });
  }

  #lineWithRoom(): Line | undefined {
    for (const line of this.#lines) if (line.streams < roomOf(line)) return line;
    return undefined;
  }

  #serveWaiting(): void {
    for (const call of this.#waiting) {
      const line = this.#lineWithRoom();
      if (line === undefined) break;
      this.#waiting.delete(call);
      this.#begin(call, line);
    }
    this.#dialIfNeeded();
  }

  #dialIfNeeded(): void {
    if (this.#closed || this.#waiting.size <= this.#dialling * STREAMS || this.#lines.size + this.#dialling >= SESSIONS) return;
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
      if (line.streams === 0) session.close();
    };
    const idle = setTimeout(whenIdle, SESSION_IDLE_MS).unref();
    const line: Line = { session, streams: 0, lastTaken: Number.POSITIVE_INFINITY, idle };
    session.on("goaway", (_code: number, lastStreamId: number) => {
      line.lastTaken = lastStreamId;
    });
    // The peer may allow more, or less, at any time.
    session.on("remoteSettings", () => this.#serveWaiting());
    session.on("close", () => {
      clearTimeout(idle);
      this.#lines.delete(line);
      this.#serveWaiting();
    });
    session.unref();
    this.#lines.add(line);
    this.#serveWaiting();
  }

  /** Where another connection stands or is being made, that one may still serve those who wait. */
  #notConnected(error: AgentError): void {
    this.#dialling--;
    if (this.#lines.size + this.#dialling > 0) return;
    for (const call of this.#waiting) call.fail(error);
  }
}

function roomOf({ session, lastTaken }: Line): number {
  if (session.closed || session.destroyed || lastTaken !== Number.POSITIVE_INFINITY) return 0;
  return Math.min(STREAMS, session.remoteSettings.maxConcurrentStreams ?? STREAMS);
}
