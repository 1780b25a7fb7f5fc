import {
  AgentError,
  type Call,
  CancelSource,
  type Envelope,
  type Floor,
  isPromise,
  type LossSink,
  type Maybe,
  type Operation,
  type Principal,
} from "../envelope/index.js";
import type { Chunk, Session, SessionMessage } from "../transport/exchange.js";
import { callerError } from "./host.js";
import type { Host } from "./protocol.js";
import type { CalleeWire, CallId, SessionRequest } from "./session-wire.js";

/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001;
const ignore = (): void => undefined;

export interface ServedSessionParts {
  readonly host: Host;
  readonly wire: CalleeWire;
  readonly session: Session;
  readonly caller: Principal;
  /** What the session proves of its caller and messages. */
  readonly proved?: Maybe<Partial<Floor>>;
  /** The caller sealed its messages for this host. */
  readonly sealedForHost?: Maybe<boolean>;
  /** The message as the connection received it, if the session is inside another one. */
  outer?(frame: Chunk): Pick<SessionMessage, "session" | "frame">;
}

interface Started {
  readonly operation: Operation;
  readonly call: Call;
}

/** One session of a caller: any number of calls at once, each with its own cancel. */
export class ServedSession {
  readonly #parts: ServedSessionParts;
  readonly #running = new Map<CallId, CancelSource>();
  /** Settles when the peer has read enough of what was sent. */
  #full: Maybe<Promise<void>>;

  constructor(parts: ServedSessionParts) {
    this.#parts = parts;
  }

  /** Answers the messages until the session ends; then nobody waits for its calls any more. */
  async run(frames: AsyncIterator<Chunk>): Promise<void> {
    try {
      for (let step = await frames.next(); step.done !== true; step = await frames.next()) {
        this.#take(step.value);
        // A peer that does not read is not read from either.
        if (this.#full !== undefined) await this.#full.catch(ignore);
      }
    } finally {
      const reason = new AgentError("cancelled", "the session ended");
      for (const cancel of this.#running.values()) cancel.cancel(reason);
    }
  }

  async say(envelope: Envelope): Promise<void> {
    const said = this.#parts.wire.say(envelope, ({ path, reason }) => {
      // No call takes the report of a loss here, so nothing may be lost.
      throw new AgentError("unsupported_content", `${path} cannot be sent: ${reason}`, { field: path, sent: "no" });
    });
    await this.#send(said);
  }

  goAway(): Promise<unknown> {
    const { session } = this.#parts;
    session.close(GOING_AWAY, "the server is closing");
    return session.closed;
  }

  #take(frame: Chunk): void {
    const { host, wire, caller } = this.#parts;
    try {
      const message = wire.read(frame);
      if (message.kind === "request") this.#begin(message.request, frame);
      else if (message.kind === "cancel")
        this.#running.get(message.id)?.cancel(new AgentError("cancelled", "the caller cancelled"));
      else if (message.kind === "ping") void this.#send(message.answer)?.catch(ignore);
      else if (!host.inbox.deliver(message.message(), caller)) throw new AgentError("overloaded", "the inbox is full");
    } catch (thrown) {
      // The peer may have gone: then there is nobody to tell.
      void this.#send(wire.error(undefined, callerError(host, thrown)))?.catch(ignore);
    }
  }

  #begin(request: SessionRequest, frame: Chunk): void {
    const { id } = request;
    if (this.#running.has(id))
      // Without the id: it would look like the end of the call that has it.
      throw new AgentError("conflict", `a running call has the id ${String(id).slice(0, 100)}`, { field: "id" });
    const cancel = new CancelSource();
    this.#running.set(id, cancel);
    void this.#run(request, frame, cancel);
  }

  async #run(request: SessionRequest, frame: Chunk, cancel: CancelSource): Promise<void> {
    const { host, wire, session } = this.#parts;
    const { id } = request;
    // Also while the answer is being sent, when the host no longer counts the call as running.
    const release = session.hold();
    let call: Maybe<Call>;
    let receipt: Maybe<ReturnType<typeof setTimeout>>;
    try {
      const started = this.#start(request, frame, cancel);
      call = started.call;
      receipt = this.#confirmLater(id, call);
      await this.#answer(id, started.operation, call);
    } catch (thrown) {
      const error = wire.error(id, callerError(host, thrown));
      await Promise.resolve(this.#send(error, call)).catch(ignore);
    } finally {
      clearTimeout(receipt);
      this.#running.delete(id);
      release();
    }
  }

  #confirmLater(id: CallId, call: Call): Maybe<ReturnType<typeof setTimeout>> {
    const { receipt } = this.#parts.wire;
    if (receipt === undefined) return undefined;
    const timer = setTimeout(() => void this.#send(receipt.of(id), call)?.catch(ignore), receipt.afterMs);
    timer.unref?.();
    return timer;
  }

  #start(request: SessionRequest, frame: Chunk, cancel: CancelSource): Started {
    const { host, wire, session, caller, proved, sealedForHost, outer } = this.#parts;
    const { agent, hops, parameters } = request;
    const named = agent === undefined ? host.cards()[0] : host.cards().find(({ name }) => name === agent);
    const operation = request.operation();
    if (named === undefined) throw new AgentError("not_found", `no agent ${agent?.slice(0, 100)} here`, { field: "agent" });
    const call = host.begin(
      { ...(outer?.(frame) ?? { session, frame }), hops, cancel },
      { caller, agent: named.name, via: wire.via, parameters, proved, sealedForHost },
    );
    return { operation, call };
  }

  async #answer(id: CallId, operation: Operation, call: Call): Promise<void> {
    const { host, wire } = this.#parts;
    const reportLoss: LossSink = (loss) => call.reportLoss(loss);
    const reply = host.handler(operation, call);
    if (isPromise(reply)) {
      await this.#send(wire.end(id, await reply, reportLoss), call);
      return;
    }
    for await (const event of reply) await this.#send(wire.event(id, event, reportLoss), call);
    await this.#send(wire.end(id, undefined, reportLoss), call);
  }

  #send(message: Chunk, call?: Call): Maybe<Promise<void>> {
    const full = this.#parts.session.send(message, call);
    if (full !== undefined) {
      this.#full = full;
      const forget = (): void => {
        if (this.#full === full) this.#full = undefined;
      };
      full.then(forget, forget);
    }
    return full;
  }
}

/** The open sessions of a server, by owner. */
export class ServedSessions {
  /** Oldest first. */
  readonly #byOwner = new Map<string, Set<ServedSession>>();

  /** Runs a session until it ends. */
  async run(parts: ServedSessionParts, frames: AsyncIterator<Chunk>): Promise<void> {
    const { owner } = parts.caller;
    const served = new ServedSession(parts);
    const own = this.#byOwner.get(owner) ?? new Set();
    this.#byOwner.set(owner, own.add(served));
    try {
      await served.run(frames);
    } finally {
      own.delete(served);
      if (own.size === 0) this.#byOwner.delete(owner);
    }
  }

  /** Sends a message in the newest session of an owner. Throws `unavailable` without one. */
  async say(owner: string, envelope: Envelope): Promise<void> {
    const newest = [...(this.#byOwner.get(owner) ?? [])].at(-1);
    if (newest === undefined) throw new AgentError("unavailable", "this caller has no open session", { sent: "no" });
    await newest.say(envelope);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byOwner.values()].flatMap((own) => [...own].map((each) => each.goAway())));
  }
}
