import { AgentError, type AgentEvent, type Call, type Maybe, type Principal } from "../envelope/index.js";
import { bytesOf } from "../transport/body.js";
import type { Chunk, Session } from "../transport/exchange.js";
import { blame } from "../transport/fields.js";
import type { ClientContext } from "./protocol.js";
import { SessionEvents } from "./session-events.js";
import type { CalleeMessage, CallerWire, CallId } from "./session-wire.js";

/** RFC 6455 §7.4.1. */
const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
const POLICY = 1008;

/** A session that was opened for all calls to a peer. */
export interface OpenedSession {
  readonly session: Session;
  /** Its messages, after those of a handshake. */
  readonly frames: AsyncIterator<Chunk>;
  /** Who starts messages in it. */
  readonly peer: Principal;
  /** False once it should take no further calls: it expires soon. Default: it takes them until it ends. */
  takesCalls?(): boolean;
}

export interface SharedSessionParts extends OpenedSession {
  readonly context: Pick<ClientContext, "limits" | "inbox" | "fault">;
  readonly wire: CallerWire;
}

/** A call in a session, until the peer has ended it. */
export interface RunningCall {
  readonly id: CallId;
  readonly call: Call;
  readonly events: SessionEvents;
  /** The peer has confirmed that it works on it. */
  hasReceipt: boolean;
  /** The peer has ended the call, or the session has. */
  ended(): void;
}

/** An open session with its calls. It ends with its connection, and is replaced by another one. */
export class SharedSession {
  readonly #parts: SharedSessionParts;
  readonly #running = new Map<CallId, RunningCall>();
  /** Why this side gave up the session. */
  #problem: Maybe<AgentError>;
  #isOpen = true;
  #isRetired = false;
  #lastId = 0;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #silentFor = 0;
  readonly ended: Promise<void>;

  constructor(parts: SharedSessionParts) {
    this.#parts = parts;
    this.ended = this.#read();
  }

  /** Whether it takes further calls. */
  get isOpen(): boolean {
    return this.#isOpen && (this.#parts.takesCalls?.() ?? true);
  }

  /** Writes the request of a call. */
  start(request: (id: CallId) => Chunk, call: Call, done: () => void): RunningCall {
    const { session, context } = this.#parts;
    const id = String(++this.#lastId);
    const release = session.hold();
    const running: RunningCall = {
      id,
      call,
      events: new SessionEvents(context.limits.sessionQueuedBytes),
      hasReceipt: false,
      ended: () => {
        if (!this.#running.delete(id)) return;
        release();
        if (this.#running.size === 0) this.#idle();
        done();
      },
    };
    this.#running.set(id, running);
    this.#startHeartbeat();
    // The peer answers once it has read the request: only a failure is of interest.
    session.send(request(id), call)?.catch((thrown: unknown) => {
      const error = AgentError.from(thrown);
      // The peer is closing it: the next call opens another one.
      if (error.code === "unavailable") this.#isOpen = false;
      running.events.fail(error);
      running.ended();
    });
    return running;
  }

  /** The caller has left. The call keeps its place until the peer has ended it too, because it counts there. */
  cancel({ id, call, ended }: RunningCall): void {
    if (!this.#running.has(id)) return;
    const cancel = this.#parts.wire.cancel(id);
    if (cancel === undefined) ended();
    // A session that has ended needs no cancel.
    else this.#parts.session.send(cancel, call)?.catch(() => undefined);
  }

  /** Closes after the calls that run in it. */
  closeWhenDone(): void {
    this.#isRetired = true;
    if (this.#running.size === 0) void this.close();
  }

  async close(): Promise<void> {
    this.#parts.session.close(NORMAL, "");
    await this.ended;
  }

  async #read(): Promise<void> {
    const { session, frames } = this.#parts;
    for (let step = await frames.next(); step.done !== true; step = await frames.next()) this.#take(step.value);
    const { code, reason } = await session.closed;
    this.#isOpen = false;
    this.#stopHeartbeat();
    const why = this.#problem ?? `the session ended (${code}${reason === "" ? "" : `: ${reason}`})`;
    for (const running of this.#running.values()) {
      running.events.fail(typeof why === "string" ? interrupted(why, running) : why);
      running.ended();
    }
  }

  #take(frame: Chunk): void {
    this.#silentFor = 0;
    try {
      this.#handle(this.#parts.wire.read(frame), frame);
    } catch (thrown) {
      // It cannot be said which call it was for.
      this.#giveUp(badPeer(thrown), PROTOCOL_ERROR, "invalid message");
    }
  }

  #giveUp(problem: AgentError, code: number, reason: string): void {
    this.#problem = problem;
    this.#isOpen = false;
    this.#parts.session.close(code, reason);
  }

  #handle(message: CalleeMessage, frame: Chunk): void {
    const running = "id" in message && message.id !== undefined ? this.#running.get(message.id) : undefined;
    // Observers cannot tell whose message it is.
    if (running !== undefined) this.#parts.session.assign(frame, running.call);
    switch (message.kind) {
      case "say":
        this.#deliver(message);
        break;
      case "pong":
        break;
      case "error":
        if (message.id === undefined) this.#parts.context.fault(message.error);
        running?.events.fail(message.error);
        running?.ended();
        break;
      case "receipt":
        if (running !== undefined) running.hasReceipt = true;
        break;
      case "event":
        this.#event(running, message.event, frame);
        break;
      case "end":
        if (message.event !== undefined) this.#event(running, message.event, frame);
        running?.events.end();
        running?.ended();
        break;
      default:
        message satisfies never;
    }
  }

  /** An answer to no running call is late: its call was given up. */
  #event(running: Maybe<RunningCall>, event: () => AgentEvent, frame: Chunk): void {
    if (running?.events.isOpen !== true) return;
    try {
      if (!running.events.push(event(), bytesOf(frame).length)) this.cancel(running);
    } catch (thrown) {
      running.events.fail(badPeer(thrown));
      this.cancel(running);
    }
  }

  #deliver(message: Extract<CalleeMessage, { readonly kind: "say" }>): void {
    const { context, peer } = this.#parts;
    if (!context.inbox.deliver(message.message(), peer)) context.fault(new AgentError("overloaded", "the inbox is full"));
  }

  /** Only while calls wait: a session without calls is closed for being idle. */
  #startHeartbeat(): void {
    const { heartbeat } = this.#parts.wire;
    if (heartbeat === undefined || this.#heartbeat !== undefined) return;
    this.#silentFor = 0;
    this.#heartbeat = setInterval(() => {
      if (++this.#silentFor <= heartbeat.missed) return void this.#parts.session.send(heartbeat.ping())?.catch(() => undefined);
      const silence = (this.#silentFor - 1) * heartbeat.everyMs;
      const problem = new AgentError("interrupted", `the peer was silent for ${silence} ms`, { sent: "maybe" });
      this.#giveUp(problem, POLICY, "no answer to heartbeats");
    }, heartbeat.everyMs);
    this.#heartbeat.unref?.();
  }

  #idle(): void {
    this.#stopHeartbeat();
    if (this.#isRetired) void this.close();
  }

  #stopHeartbeat(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

function interrupted(why: string, { hasReceipt }: RunningCall): AgentError {
  return new AgentError("interrupted", why, {
    sent: "maybe",
    ...(hasReceipt && { detail: { receipt: "the peer works on it" } }),
  });
}

function badPeer(thrown: unknown): AgentError {
  const error = blame(thrown, "bad_peer");
  if (error.code === "bad_peer") return error;
  return new AgentError("bad_peer", error.message, { sent: "maybe", cause: error });
}
