import {
  AgentError,
  type Call,
  CancelSource,
  type Envelope,
  isPromise,
  type JsonObject,
  type LossSink,
  type Maybe,
  type Operation,
  type Principal,
} from "../../../src/envelope/index.js";
import { callerError } from "../../../src/protocols/host.js";
import type { Host } from "../../../src/protocols/index.js";
import type { Chunk, Session } from "../../../src/transport/exchange.js";
import { decodeMessage, decodeOperation, encodeEvent, encodeMessage, isOp } from "../codec.js";
import { encodeError } from "../errors.js";
import { CLOSE, readClientMessage, VIA, type WireRequest } from "../wire.js";

const ignore = (): void => undefined;

interface Started {
  readonly operation: Operation;
  readonly call: Call;
}

/** One session of a caller: any number of calls at once, each with its own cancel. */
export class ServedSession {
  readonly #host: Host;
  readonly #session: Session;
  readonly #caller: Principal;
  readonly #running = new Map<string, CancelSource>();
  /** Settles when the peer has read enough of what was sent. */
  #full: Maybe<Promise<void>>;

  constructor(host: Host, session: Session, caller: Principal) {
    this.#host = host;
    this.#session = session;
    this.#caller = caller;
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
    const say = encodeMessage(envelope, "message", ({ path, reason }) => {
      // No call takes the report of a loss here, so nothing may be lost.
      throw new AgentError("unsupported_content", `${path} cannot be sent: ${reason}`, { field: path, sent: "no" });
    });
    await this.#send({ say });
  }

  goAway(): Promise<unknown> {
    this.#session.close(CLOSE.goingAway, "the server is closing");
    return this.#session.closed;
  }

  #take(frame: Chunk): void {
    try {
      const message = readClientMessage(frame, this.#host.limits);
      if (message.kind === "call") this.#begin(message.request, frame);
      else if (message.kind === "cancel")
        this.#running.get(message.id)?.cancel(new AgentError("cancelled", "the caller cancelled"));
      else if (message.kind === "say") this.#deliver(message.message);
      else throw new AgentError("conflict", "the caller of this session is already known");
    } catch (thrown) {
      // The peer may have gone: then there is nobody to tell.
      void this.#send({ error: encodeError(callerError(this.#host, thrown)) })?.catch(ignore);
    }
  }

  #deliver(message: JsonObject): void {
    const { limits, inbox } = this.#host;
    if (!inbox.deliver(decodeMessage(message, "say", limits), this.#caller))
      throw new AgentError("overloaded", "the inbox is full");
  }

  #begin(request: WireRequest, frame: Chunk): void {
    if (this.#running.has(request.id))
      // Without the id: it would look like the end of the call that has it.
      throw new AgentError("conflict", `a running call has the id ${request.id.slice(0, 100)}`, { field: "id" });
    const cancel = new CancelSource();
    this.#running.set(request.id, cancel);
    void this.#run(request, frame, cancel);
  }

  async #run(request: WireRequest, frame: Chunk, cancel: CancelSource): Promise<void> {
    const { id } = request;
    // Also while the answer is being sent, when the host no longer counts the call as running.
    const release = this.#session.hold();
    let call: Maybe<Call>;
    try {
      const started = this.#start(request, frame, cancel);
      call = started.call;
      await this.#answer(id, started.operation, call);
    } catch (thrown) {
      const error = encodeError(callerError(this.#host, thrown));
      await Promise.resolve(this.#send({ id, error }, call)).catch(ignore);
    } finally {
      this.#running.delete(id);
      release();
    }
  }

  #start({ op, agent, hops, trace, args }: WireRequest, frame: Chunk, cancel: CancelSource): Started {
    const host = this.#host;
    if (!isOp(op)) throw new AgentError("unsupported_method", `the session toy has no operation ${op.slice(0, 100)}`);
    const named = agent === undefined ? host.cards()[0] : host.cards().find(({ name }) => name === agent);
    if (named === undefined) throw new AgentError("not_found", `no agent ${agent?.slice(0, 100)} here`, { field: "agent" });
    const operation = decodeOperation(op, args, host.limits);
    const call = host.begin(
      { session: this.#session, frame, hops, cancel },
      {
        caller: this.#caller,
        agent: named.name,
        via: VIA,
        parameters: trace && {
          traceparent: trace.traceparent,
          ...(trace.tracestate === undefined ? undefined : { tracestate: trace.tracestate }),
        },
      },
    );
    return { operation, call };
  }

  async #answer(id: string, operation: Operation, call: Call): Promise<void> {
    const reportLoss: LossSink = (loss) => call.reportLoss(loss);
    const reply = this.#host.handler(operation, call);
    if (isPromise(reply)) {
      await this.#send({ id, end: encodeEvent(await reply, reportLoss) }, call);
      return;
    }
    for await (const event of reply) await this.#send({ id, event: encodeEvent(event, reportLoss) }, call);
    await this.#send({ id, end: null }, call);
  }

  #send(message: JsonObject, call?: Call): Maybe<Promise<void>> {
    const full = this.#session.send(JSON.stringify(message), call);
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
