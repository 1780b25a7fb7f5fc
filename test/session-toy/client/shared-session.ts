import {
  AgentError,
  type Call,
  CancelSource,
  type JsonObject,
  type Maybe,
  ownerOf,
  type Principal,
} from "../../../src/envelope/index.js";
import type { ClientContext } from "../../../src/protocols/index.js";
import { bytesOf } from "../../../src/transport/body.js";
import type { Chunk, Session } from "../../../src/transport/exchange.js";
import { blame } from "../../../src/transport/fields.js";
import { openSession } from "../../../src/transport/links.js";
import { makeRequest } from "../../../src/transport/request.js";
import { decodeEvent, decodeMessage } from "../codec.js";
import { decodeError } from "../errors.js";
import { CLOSE, readServerMessage, type ServerMessage, SUBPROTOCOL } from "../wire.js";
import { EventQueue } from "./event-queue.js";

/** A call in a session, until the peer has ended it. */
export interface RunningCall {
  readonly id: string;
  readonly call: Call;
  readonly events: EventQueue;
  /** The peer has ended the call, or the session has. */
  ended(): void;
}

/** An open session with its calls. It ends with its connection, and is replaced by another one. */
export class SharedSession {
  readonly #context: ClientContext;
  readonly #session: Session;
  readonly #running = new Map<string, RunningCall>();
  readonly #greeting = new Greeting();
  /** Why this side gave up the session. */
  #problem: Maybe<AgentError>;
  #isOpen = true;
  #lastId = 0;
  readonly ended: Promise<void>;

  private constructor(context: ClientContext, session: Session) {
    this.#context = context;
    this.#session = session;
    this.ended = this.#read();
  }

  /** Opened for all calls: the cancel of the first one does not end it. */
  static async open(context: ClientContext, call: Call): Promise<SharedSession> {
    const forAll = call.derive({ cancel: new CancelSource() });
    const request = makeRequest({ method: "GET", url: context.peer.url, call: forAll });
    const opened = new SharedSession(context, await openSession(context.link, request, [SUBPROTOCOL]));
    const did = context.settings("session-toy")?.["did"];
    if (typeof did === "string") await opened.#sayHello(did);
    return opened;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Writes the request of a call. */
  start(request: JsonObject, call: Call, done: () => void): RunningCall {
    const id = String(++this.#lastId);
    const release = this.#session.hold();
    const running: RunningCall = {
      id,
      call,
      events: new EventQueue(this.#context.limits.sessionQueuedBytes),
      ended: () => {
        if (!this.#running.delete(id)) return;
        release();
        done();
      },
    };
    this.#running.set(id, running);
    // The peer answers once it has read the request: only a failure is of interest.
    this.#session.send(JSON.stringify({ id, ...request }), call)?.catch((thrown: unknown) => {
      const error = AgentError.from(thrown);
      // The peer is closing it: the next call opens another one.
      if (error.code === "unavailable") this.#isOpen = false;
      running.events.fail(error);
      running.ended();
    });
    return running;
  }

  /** The caller has left. The call keeps its place until the peer has ended it too, because it counts there. */
  cancel({ id, call }: RunningCall): void {
    if (this.#running.has(id)) void this.#session.send(JSON.stringify({ cancel: id }), call);
  }

  async close(): Promise<void> {
    this.#session.close(CLOSE.normal, "");
    await this.ended;
  }

  async #sayHello(did: string): Promise<void> {
    void this.#session.send(JSON.stringify({ hello: did }));
    await this.#greeting.answered;
  }

  async #read(): Promise<void> {
    for await (const frame of this.#session.frames) this.#take(frame);
    const { code, reason } = await this.#session.closed;
    this.#isOpen = false;
    const why = `the session ended (${code}${reason === "" ? "" : `: ${reason}`})`;
    const error = this.#problem ?? new AgentError("interrupted", why, { sent: "maybe" });
    this.#greeting.refuse(error);
    for (const running of this.#running.values()) {
      running.events.fail(error);
      running.ended();
    }
  }

  #take(frame: Chunk): void {
    try {
      this.#handle(readServerMessage(frame, this.#context.limits), frame);
    } catch (thrown) {
      // It cannot be said which call it was for.
      this.#problem = badPeer(thrown);
      this.#isOpen = false;
      this.#session.close(CLOSE.protocolError, "invalid message");
    }
  }

  #handle(message: ServerMessage, frame: Chunk): void {
    const running = "id" in message && message.id !== undefined ? this.#running.get(message.id) : undefined;
    // Observers cannot tell whose message it is.
    if (running !== undefined) this.#session.assign(frame, running.call);
    if (message.kind === "hello") this.#greeting.accept();
    else if (message.kind === "say") this.#deliver(message.message);
    else if (message.kind === "error") this.#failed(message.id, decodeError(message.error));
    else {
      if (message.event !== undefined) this.#event(message.id, message.event, frame);
      if (message.kind === "end") this.#finished(message.id, (events) => events.end());
    }
  }

  /** An answer to no running call is late: its call was given up. */
  #event(id: string, event: JsonObject, frame: Chunk): void {
    const running = this.#running.get(id);
    if (running?.events.isOpen !== true) return;
    try {
      if (!running.events.push(decodeEvent(event, this.#context.limits), bytesOf(frame).length)) this.cancel(running);
    } catch (thrown) {
      running.events.fail(badPeer(thrown));
      this.cancel(running);
    }
  }

  #failed(id: Maybe<string>, error: AgentError): void {
    if (id === undefined) {
      this.#greeting.refuse(error);
      this.#context.fault(error);
      return;
    }
    this.#finished(id, (events) => events.fail(error));
  }

  #finished(id: string, finish: (events: EventQueue) => void): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    finish(running.events);
    running.ended();
  }

  #deliver(message: JsonObject): void {
    const { inbox, limits } = this.#context;
    const envelope = decodeMessage(message, "say", limits);
    if (!inbox.deliver(envelope, this.#peer())) this.#context.fault(new AgentError("overloaded", "the inbox is full"));
  }

  #peer(): Principal {
    const { name } = this.#context.peer.card;
    return { id: name, scheme: "anonymous", scopes: [], owner: ownerOf("anonymous", name) };
  }
}

/** The answer to `hello`. Nobody may be waiting for it. */
class Greeting {
  accept!: () => void;
  refuse!: (error: AgentError) => void;
  readonly answered = new Promise<void>((resolve, reject) => {
    this.accept = resolve;
    this.refuse = reject;
  });

  constructor() {
    this.answered.catch(() => undefined);
  }
}

function badPeer(thrown: unknown): AgentError {
  const error = blame(thrown, "bad_peer");
  if (error.code === "bad_peer") return error;
  return new AgentError("bad_peer", error.message, { sent: "maybe", cause: error });
}
