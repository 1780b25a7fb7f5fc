import { AgentError, type Call, type Maybe } from "../envelope/index.js";
import { bufferedBytesOf } from "./buffered-bytes.js";
import type { Chunk, RequestHead, Session, SessionEnd, SessionSeal, SessionTap } from "./exchange.js";
import type { Limits } from "./limits.js";
import { SessionQueue } from "./session-queue.js";
import { SessionTimers } from "./session-timers.js";

/** What every session begins with. */
export interface SessionStart {
  readonly request: RequestHead;
  readonly subprotocol: string;
  readonly limits: Limits;
  /** The server's end: it closes sessions that are silent, idle or not read. */
  readonly accepted: boolean;
  /** Receives what observers throw. */
  onError(thrown: unknown): void;
  /** The session has ended. */
  ended(): void;
}

/** A paused connection still delivers what was read from it at once: at most one read of Node. */
const READ_BYTES = 64 * 1024;

/** The shortest frame head; an empty message is not free. */
const FRAME_BYTES = 2;

/** RFC 6455 §5.5: a control frame has at most 125 bytes, two of them the close code. */
const REASON_BYTES = 123;

/** Copies of small messages: a view would keep the whole chunk that the connection read. */
const VIEW_SLACK_BYTES = 1024;

/** The part of a session that does not depend on what carries it: queue, observers, limits, holds and the end. */
export abstract class BaseSession implements Session {
  readonly request: RequestHead;
  readonly subprotocol: string;
  readonly closed: Promise<SessionEnd>;
  readonly frames: SessionQueue;
  protected readonly limits: Limits;
  readonly #start: SessionStart;
  readonly #timers: SessionTimers | undefined;
  readonly #taps: SessionTap[] = [];
  #resolveClosed!: (end: SessionEnd) => void;
  /** Set once this side closes, or fails the connection. */
  #closing: { readonly code: number; readonly reason: string } | undefined;
  #isClosing = false;
  #end: SessionEnd | undefined;
  #holds = 0;
  #goingAway: string | undefined;
  #paused = false;
  /** Received while paused. */
  #overrun = 0;
  #drain: Drain | undefined;

  constructor(start: SessionStart) {
    this.request = start.request;
    this.subprotocol = start.subprotocol;
    this.limits = start.limits;
    this.#start = start;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.frames = new SessionQueue(
      start.limits.sessionQueuedBytes,
      () => this.#resume(),
      bufferedBytesOf(start.limits, start.request, false),
    );
    this.#timers = start.accepted ? new SessionTimers(this, start.limits) : undefined;
  }

  /** False once either side has sent a close frame or the connection broke. */
  protected abstract readonly isOpen: boolean;
  /** Another message can be sent without waiting. If not, `drained` is called later. */
  protected abstract readonly hasRoom: boolean;
  /** Sent messages that wait for the connection. */
  abstract readonly unsentBytes: number;
  protected abstract byteLength(text: string): number;
  protected abstract write(frame: Chunk, bytes: number): void;
  protected abstract pauseReading(): void;
  protected abstract resumeReading(): void;
  /** Sends a close frame after all messages; `finish` is called later. */
  protected abstract startClosing(code: number, reason: string): void;
  /** Ends the connection without the closing handshake; `finish` is called, now or later. */
  abstract destroy(): void;

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Messages are still wanted. */
  protected get isReading(): boolean {
    return !this.#isClosing && this.#end === undefined;
  }

  send(frame: Chunk, call?: Maybe<Call>): Maybe<Promise<void>> {
    if (this.#isClosing || !this.isOpen) return rejected(new AgentError("unavailable", "the session is closed", { sent: "no" }));
    const bytes = typeof frame === "string" ? this.byteLength(frame) : frame.byteLength;
    const { sessionMessageBytes, sessionCalls } = this.limits;
    if (bytes > sessionMessageBytes) {
      const message = `the message is longer than ${sessionMessageBytes} bytes, the limit of a session`;
      return rejected(new AgentError("too_large", message, { sent: "no" }));
    }
    // Every running call may wait with one message. More is only reached by senders that do not wait.
    if (this.unsentBytes > sessionCalls * sessionMessageBytes) {
      this.abort(1008, "the peer does not read");
      return rejected(new AgentError("overloaded", "the peer does not read its messages", { sent: "no" }));
    }
    this.write(frame, bytes);
    this.#timers?.active();
    for (const tap of this.#taps) {
      try {
        tap.sent?.(frame, bytes, call);
      } catch (thrown) {
        this.#start.onError(thrown);
      }
    }
    if (this.hasRoom) return undefined;
    this.#timers?.sendWaits();
    this.#drain ??= new Drain();
    return this.#drain.promise;
  }

  assign(frame: Chunk, call: Call): void {
    for (const tap of this.#taps) this.#observe(() => tap.assigned?.(frame, call));
  }

  markSealed(seal: SessionSeal): void {
    for (const tap of this.#taps) this.#observe(() => tap.sealed?.(seal));
  }

  tap(tap: SessionTap): void {
    this.#taps.push(tap);
    // A peer may write before its session is in the hands of those who observe it.
    this.frames.visit((frame, bytes) => this.#observe(() => tap.received?.(frame, bytes)));
    const end = this.#end;
    if (end !== undefined) this.#observe(() => tap.ended?.(end));
  }

  hold(): () => void {
    this.#holds++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (--this.#holds > 0) return;
      this.#timers?.active();
      if (this.#goingAway !== undefined) this.close(1001, this.#goingAway);
    };
  }

  close(code: number, reason: string): void {
    if (this.#isClosing || this.#end !== undefined) return;
    this.#isClosing = true;
    this.frames.discard();
    if (!this.isOpen) return; // the peer was first
    if (!isCloseCode(code))
      this.#start.onError(new AgentError("internal", `close code ${code} must not be sent (RFC 6455 §7.4)`));
    this.#closing = { code: isCloseCode(code) ? code : 1011, reason: fitReason(reason) };
    this.startClosing(this.#closing.code, this.#closing.reason);
  }

  /** Closes the session as soon as nothing holds it. */
  shutDown(reason: string): void {
    this.#goingAway = reason;
    if (this.#holds === 0) this.close(1001, reason);
  }

  abort(code: number, reason: string): void {
    this.failed(code, reason);
    this.#isClosing = true;
    this.frames.discard();
    this.destroy();
  }

  /** A message of the peer has arrived. While closing it is dropped. */
  protected receive(frame: Chunk, bytes: number): void {
    if (!this.isReading) return;
    const kept = this.frames.hasReader ? frame : withoutSlack(frame);
    this.#timers?.received();
    for (const tap of this.#taps) {
      try {
        tap.received?.(kept, bytes);
      } catch (thrown) {
        this.#start.onError(thrown);
      }
    }
    this.frames.push(kept, bytes);
    if (this.#paused) {
      this.#overrun += bytes + FRAME_BYTES;
      if (this.#overrun > READ_BYTES) this.close(1008, "more was sent than is read");
    } else if (this.frames.isFull) {
      this.#paused = true;
      this.#overrun = 0;
      this.pauseReading();
    }
  }

  /** What was sent has left; there is room again. */
  protected drained(): void {
    this.#timers?.drained();
    const drain = this.#drain;
    this.#drain = undefined;
    drain?.resolve();
  }

  /** This side fails the connection with a code of its own. */
  protected failed(code: number, reason: string): void {
    this.#closing ??= { code, reason };
  }

  /** The session is over. The code is the peer's; that of this side comes first. */
  protected finish(code: number, reason: string, clean: boolean): void {
    if (this.#end !== undefined) return;
    const end: SessionEnd = { code, reason, ...this.#closing, clean };
    this.#end = end;
    this.#timers?.stop();
    this.frames.end();
    this.#drain?.reject(new AgentError("interrupted", `the session ended (${end.code})`, { sent: "maybe" }));
    this.#drain = undefined;
    for (const tap of this.#taps) this.#observe(() => tap.ended?.(end));
    this.#resolveClosed(end);
    this.#start.ended();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.resumeReading();
  }

  /** For what happens rarely; messages do without a closure. */
  #observe(run: () => void): void {
    try {
      run();
    } catch (thrown) {
      this.#start.onError(thrown);
    }
  }
}

/** Settles when what was sent has left. Nobody has to wait for it. */
class Drain {
  readonly promise: Promise<void>;
  resolve!: () => void;
  reject!: (reason: AgentError) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.promise.catch(ignore);
  }
}

/** A sender that does not wait must not end the process. */
function rejected(reason: AgentError): Promise<void> {
  const promise = Promise.reject(reason);
  promise.catch(ignore);
  return promise;
}

function ignore(): void {}

/** RFC 6455 §7.4: the codes that an endpoint may send. */
function isCloseCode(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && !(code >= 1004 && code <= 1006);
}

function fitReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= REASON_BYTES) return reason;
  // An incomplete character at the end is dropped.
  return new TextDecoder().decode(bytes.subarray(0, REASON_BYTES), { stream: true });
}

function withoutSlack(frame: Chunk): Chunk {
  if (typeof frame === "string" || frame.buffer.byteLength <= frame.byteLength * 2 + VIEW_SLACK_BYTES) return frame;
  return new Uint8Array(frame);
}
