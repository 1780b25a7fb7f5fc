import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  isPromise,
  type Maybe,
  type Operation,
  type Reply,
} from "../envelope/index.js";
import type { IdSource } from "../protocols/protocol.js";
import type { Link } from "../transport/exchange.js";
import { type Candidate, pickInterface, type Shares } from "./pick-interface.js";
import { requireSecurity } from "./require-security.js";

export interface ConnectionOptions {
  linkFor(candidate: Candidate): Link;
  readonly candidates: readonly Candidate[];
  readonly ids: IdSource;
  readonly random: () => number;
  /** The layers around each client half: policies and telemetry. */
  wrap(handler: Handler, candidate: Candidate): Handler;
  /** The peer refused a version it was said to speak. */
  onVersionError(candidate: Candidate): void;
}

/**
 * One peer behind all the ways to reach it. A way that turns out not to be spoken gives way to the next one, but only
 * where the peer cannot have acted: this is choosing a door, not trying again.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #handlers = new Map<Candidate, Handler>();
  #candidates: readonly Candidate[];
  /** May be changed while calls are under way; the next send follows it. */
  shares: Shares = {};

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#candidates = options.candidates;
  }

  /** The way the next message without a hint takes. */
  get current(): Candidate {
    return pickInterface(this.#candidates, undefined, {}, this.#options.random);
  }

  get candidates(): readonly Candidate[] {
    return this.#candidates;
  }

  readonly handle: Handler = (operation, call) => {
    const hint = operation.kind === "send" ? operation.envelope.meta.protocolHint : undefined;
    let chosen: Candidate;
    try {
      chosen = pickInterface(this.#candidates, hint, this.shares, this.#options.random);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    const reply = this.#handlerOf(chosen)(operation, call);
    if (this.#candidates.length === 1 || (hint !== undefined && hint !== "")) return reply;
    const tried = [chosen];
    const elsewhere = (thrown: unknown): Maybe<Reply> => this.#elsewhere(thrown, tried, operation, call);
    return isPromise(reply) ? oneOrElse(reply, elsewhere) : new FirstOrElse(reply, elsewhere);
  };

  /** The same operation by a way not tried yet, when the peer certainly did nothing; else undefined. */
  #elsewhere(thrown: unknown, tried: Candidate[], operation: Operation, call: Call): Maybe<Reply> {
    const error = AgentError.from(thrown);
    const failed = tried.at(-1);
    if (failed === undefined || !isNotSpoken(error)) return undefined;
    if (error.code === "unsupported_version") this.#options.onVersionError(failed);
    // A method that one version lacks says nothing about the address; anything else moves it to the end.
    if (error.code !== "unsupported_method") this.#candidates = [...this.#candidates.filter((each) => each !== failed), failed];
    // Where nobody listens, nobody speaks another protocol either.
    const gone = error.code === "unavailable" ? originOf(failed) : undefined;
    const next = this.#candidates.find((each) => !tried.includes(each) && originOf(each) !== gone);
    if (next === undefined) return undefined;
    tried.push(next);
    return this.#handlerOf(next)(operation, call);
  }

  #handlerOf(candidate: Candidate): Handler {
    let handler = this.#handlers.get(candidate);
    if (handler === undefined) {
      const { linkFor, ids, wrap } = this.#options;
      const { protocol, peer } = candidate;
      handler = wrap(requireSecurity(protocol.connect(linkFor(candidate), peer, ids), protocol, peer), candidate);
      this.#handlers.set(candidate, handler);
    }
    return handler;
  }
}

/** Scheme, host and port; what has none is its own. */
function originOf({ peer: { url } }: Candidate): string {
  return URL.canParse(url) && new URL(url).origin !== "null" ? new URL(url).origin : url.replace(/^[a-z+]+:\/\//, "http://");
}

/** The peer did not understand the way it was spoken to, or was never reached: in both cases it did nothing. */
function isNotSpoken({ code, facts }: AgentError): boolean {
  if (code === "unsupported_version" || code === "unsupported_method") return true;
  return (code === "unavailable" && facts.sent === "no") || (code === "not_found" && facts.status === 404);
}

/** One answer, by the first way that is spoken. */
async function oneOrElse(first: Promise<AgentEvent>, orElse: (thrown: unknown) => Maybe<Reply>): Promise<AgentEvent> {
  for (let reply = first; ; ) {
    try {
      return await reply;
    } catch (thrown) {
      const other = orElse(thrown);
      if (other === undefined || !isPromise(other)) throw thrown;
      reply = other;
    }
  }
}

/** Some wires answer a stream with one event. */
async function* onlyOne(reply: Promise<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
  yield await reply;
}

/** A stream that may be replaced by another one as long as nothing of it was delivered. */
class FirstOrElse implements AsyncIterableIterator<AgentEvent> {
  #source: AsyncIterator<AgentEvent>;
  #begun = false;
  readonly #orElse: (thrown: unknown) => Maybe<Reply>;

  constructor(source: AsyncIterable<AgentEvent>, orElse: (thrown: unknown) => Maybe<Reply>) {
    this.#source = source[Symbol.asyncIterator]();
    this.#orElse = orElse;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#begun) return this.#source.next();
    this.#begun = true;
    return this.#first();
  }

  async #first(): Promise<IteratorResult<AgentEvent>> {
    for (;;) {
      try {
        return await this.#source.next();
      } catch (thrown) {
        const other = this.#orElse(thrown);
        if (other === undefined) throw thrown;
        this.#source = (isPromise(other) ? onlyOne(other) : other)[Symbol.asyncIterator]();
      }
    }
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    await this.#source.return?.();
    return { done: true, value: undefined };
  }
}
