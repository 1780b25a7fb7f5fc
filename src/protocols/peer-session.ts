import { AgentError, type AgentEvent, type Call, CancelSource, type Maybe, type Operation } from "../envelope/index.js";
import type { Client, ClientContext } from "./protocol.js";
import type { CallerWire } from "./session-wire.js";
import { type OpenedSession, type RunningCall, SharedSession } from "./shared-session.js";

export interface PeerSessionParts {
  readonly context: ClientContext;
  readonly wire: CallerWire;
  /** Opens a session for all calls: the cancel of the first one does not end it. */
  open(call: Call): Promise<OpenedSession>;
}

/** The one session with a peer, shared by all calls: opened by the first, reopened when it has ended. Never repeats a call. */
export class PeerSession {
  readonly #parts: PeerSessionParts;
  #session: Maybe<SharedSession>;
  #opening: Maybe<Promise<SharedSession>>;
  /** Calls that wait for the session or run in it. */
  #calls = 0;
  #isClosed = false;
  #drained: Maybe<() => void>;

  constructor(parts: PeerSessionParts) {
    this.#parts = parts;
  }

  readonly handler: Client["handler"] = (operation, call) => {
    const streams = operation.kind === "task.subscribe" || (operation.kind === "send" && operation.delivery === "stream");
    const events = new CallEvents(() => this.#start(operation, call), call);
    return streams ? events : onlyEvent(events, operation);
  };

  /** The peer can start messages only in an open session: what is received ends with it. */
  async *receive(call: Call): ReturnType<NonNullable<Client["receive"]>> {
    const session = await this.#opened(call);
    const cancel = new CancelSource();
    const off = call.cancel.onCancel((reason) => cancel.cancel(reason));
    void session.ended.then(() => cancel.cancel(new AgentError("interrupted", "the session ended", { sent: "no" })));
    try {
      yield* this.#parts.context.inbox.receive(call.derive({ cancel }));
    } finally {
      off();
    }
    if (cancel.reason?.code === "interrupted") throw cancel.reason;
  }

  /** An open session. Throws with `sent: "no"`. */
  async #opened(call: Call): Promise<SharedSession> {
    if (this.#isClosed) throw new AgentError("unavailable", "the connection is closed", { sent: "no" });
    if (this.#session?.isOpen === true) return this.#session;
    this.#opening ??= this.#open(call).finally(() => {
      this.#opening = undefined;
    });
    return orCancelled(this.#opening, call);
  }

  async #open(call: Call): Promise<SharedSession> {
    const { context, wire, open } = this.#parts;
    try {
      const opened = await open(call.derive({ cancel: new CancelSource() }));
      // One that takes no further calls closes after those that run in it.
      this.#session?.closeWhenDone();
      this.#session = new SharedSession({ ...opened, context, wire });
      return this.#session;
    } catch (thrown) {
      const { code, message, facts } = AgentError.from(thrown);
      // Whatever happened to the session, nothing of the call was written.
      throw new AgentError(code === "interrupted" ? "unavailable" : code, message, { ...facts, sent: "no", cause: thrown });
    }
  }

  async #start(operation: Operation, call: Call): Promise<Started> {
    if (call.cancel.reason !== undefined) throw call.cancel.reason;
    const { context, wire } = this.#parts;
    const { sessionCalls } = context.limits;
    if (this.#calls >= sessionCalls)
      throw new AgentError("overloaded", `${sessionCalls} calls of this session are running, which is the limit`, { sent: "no" });
    const request = wire.request(operation, call);
    this.#calls++;
    const done = (): void => {
      if (--this.#calls === 0) this.#drained?.();
    };
    let session: SharedSession;
    try {
      session = await this.#opened(call);
    } catch (thrown) {
      done();
      throw thrown;
    }
    return { session, running: session.start(request, call, done) };
  }

  /** Waits for running calls, within the drain limit, then closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#calls > 0) await this.#drain();
    const session = this.#session ?? (await this.#opening?.catch(() => undefined));
    await session?.close();
  }

  #drain(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#parts.context.limits.drainMs);
      this.#drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

async function onlyEvent(events: CallEvents, { kind }: Operation): Promise<AgentEvent> {
  const first = await events.next();
  if (first.done === true) throw new AgentError("bad_peer", `the peer answered ${kind} with nothing`);
  const more = await events.next();
  if (more.done === true) return first.value;
  await events.return();
  throw new AgentError("bad_peer", `the peer answered ${kind} with a stream`);
}

interface Started {
  readonly session: SharedSession;
  readonly running: RunningCall;
}

/** The answer to one call. A caller that leaves cancels the call, never the session. */
class CallEvents implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #start: () => Promise<Started>;
  readonly #call: Call;
  #started: Maybe<Promise<Started>>;
  #off: Maybe<() => void>;
  #done = false;

  constructor(start: () => Promise<Started>, call: Call) {
    this.#start = start;
    this.#call = call;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<AgentEvent, undefined>> {
    if (this.#done) return { done: true, value: undefined };
    try {
      this.#started ??= this.#begin();
      const { running } = await this.#started;
      const step = await running.events.next();
      if (step.done === true) this.#finish();
      return step;
    } catch (thrown) {
      this.#finish();
      throw thrown;
    }
  }

  async #begin(): Promise<Started> {
    const started = await this.#start();
    this.#off = this.#call.cancel.onCancel((reason) => {
      started.running.events.fail(reason);
      started.session.cancel(started.running);
    });
    return started;
  }

  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    const started = this.#started;
    if (!this.#done && started !== undefined) {
      this.#finish();
      const { running, session } = await started;
      running.events.stop();
      session.cancel(running);
    }
    this.#done = true;
    return { done: true, value: undefined };
  }

  #finish(): void {
    this.#done = true;
    this.#off?.();
  }
}

/** The result, or the reason for which the caller no longer waits for it. */
function orCancelled<T>(work: Promise<T>, call: Call): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = call.cancel.onCancel(reject);
    work.then(resolve, reject).finally(off);
  });
}
