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
  /** The layers around the handler of each interface: policies and telemetry. */
  wrap(handler: Handler, candidate: Candidate): Handler;
  /** The peer rejected a version that its card names. */
  onVersionError(candidate: Candidate): void;
}

/**
 * One peer with all its interfaces. An interface that turns out not to be supported is replaced by the next one, but only
 * where the peer cannot have acted on the request: this is interface selection, not a retry.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #handlers = new Map<Candidate, Handler>();
  #candidates: readonly Candidate[];
  /** May be changed during calls; applies to the next send. */
  shares: Shares = {};

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#candidates = options.candidates;
  }

  /** The interface of the next message without a hint. */
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
    const fallBack = (thrown: unknown): Maybe<Reply> => this.#fallBack(thrown, tried, operation, call);
    return isPromise(reply) ? answerWithFallback(reply, fallBack) : new StreamWithFallback(reply, fallBack);
  };

  /** The same operation on an interface not tried yet, if the peer certainly did nothing; else undefined. */
  #fallBack(thrown: unknown, tried: Candidate[], operation: Operation, call: Call): Maybe<Reply> {
    const error = AgentError.from(thrown);
    const failed = tried.at(-1);
    if (failed === undefined || !isUnhandled(error)) return undefined;
    if (error.code === "unsupported_version") this.#options.onVersionError(failed);
    // A method missing from one version says nothing about the address; any other failure moves the interface to the end.
    if (error.code !== "unsupported_method") this.#candidates = [...this.#candidates.filter((each) => each !== failed), failed];
    // An origin that refuses connections refuses them for every protocol.
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

/** Scheme, host and port; a target without them is its own origin. */
function originOf({ peer: { url } }: Candidate): string {
  return URL.canParse(url) && new URL(url).origin !== "null" ? new URL(url).origin : url.replace(/^[a-z+]+:\/\//, "http://");
}

/** The peer did not support the request, or did not receive it: in both cases it did nothing. */
function isUnhandled({ code, facts }: AgentError): boolean {
  if (code === "unsupported_version" || code === "unsupported_method") return true;
  return (code === "unavailable" && facts.sent === "no") || (code === "not_found" && facts.status === 404);
}

/** One answer, from the first interface that handles the request. */
async function answerWithFallback(first: Promise<AgentEvent>, fallBack: (thrown: unknown) => Maybe<Reply>): Promise<AgentEvent> {
  for (let reply = first; ; ) {
    try {
      return await reply;
    } catch (thrown) {
      const other = fallBack(thrown);
      if (other === undefined || !isPromise(other)) throw thrown;
      reply = other;
    }
  }
}

/** Some protocols answer a stream request with one event. */
async function* onlyOne(reply: Promise<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
  yield await reply;
}

/** A stream that may be replaced by another one as long as nothing of it was delivered. */
class StreamWithFallback implements AsyncIterableIterator<AgentEvent> {
  #source: AsyncIterator<AgentEvent>;
  #started = false;
  readonly #fallBack: (thrown: unknown) => Maybe<Reply>;

  constructor(source: AsyncIterable<AgentEvent>, fallBack: (thrown: unknown) => Maybe<Reply>) {
    this.#source = source[Symbol.asyncIterator]();
    this.#fallBack = fallBack;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#started) return this.#source.next();
    this.#started = true;
    return this.#first();
  }

  async #first(): Promise<IteratorResult<AgentEvent>> {
    for (;;) {
      try {
        return await this.#source.next();
      } catch (thrown) {
        const other = this.#fallBack(thrown);
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
