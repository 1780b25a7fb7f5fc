import { type AgentEvent, isPromise, type Maybe, type ReadyIterator, type Reply, TAKE_READY } from "../envelope/index.js";

/** One answer, from the first attempt that is not replaced by another. */
export async function answerWithFallback(
  first: Promise<AgentEvent>,
  fallBack: (thrown: unknown) => Maybe<Reply>,
): Promise<AgentEvent> {
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
export class StreamWithFallback implements AsyncIterableIterator<AgentEvent> {
  #source: ReadyIterator<AgentEvent>;
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

  [TAKE_READY](): AgentEvent | undefined {
    return this.#started ? this.#source[TAKE_READY]?.() : undefined;
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
