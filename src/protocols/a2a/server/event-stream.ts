import { AgentError, type Event, isPromise, type Reply } from "../../../envelope/index.js";
import type { Response } from "../../../transport/exchange.js";
import type { Limits } from "../../../transport/limits.js";
import { encodeSse, SSE_COMMENT } from "../../../transport/sse.js";

/** How one binding writes a stream: one event, and what it says when the stream breaks after it began. */
export interface StreamForm {
  event(event: Event): string;
  failure(error: AgentError): string;
}

const SSE_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" } as const;

/**
 * The stream's response. It is made only after the first event is there: what fails before is an ordinary error answer,
 * and the caller of this function writes it.
 */
export async function streamResponse(
  reply: Reply,
  form: StreamForm,
  limits: Limits,
  headers?: { readonly [name: string]: string },
): Promise<Response> {
  const events = isPromise(reply) ? once(await reply) : reply[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done) throw new AgentError("internal", "the stream ended before its first event");
  return {
    status: 200,
    headers: headers === undefined ? SSE_HEADERS : { ...SSE_HEADERS, ...headers },
    body: new SseBody(first.value, events, form),
    idle: { chunk: SSE_COMMENT, everyMs: limits.keepAliveMs },
  };
}

async function* once(event: Event): AsyncGenerator<Event, void, void> {
  yield event;
}

/** Pulls one event at a time: when the socket is full, nobody asks, and the handler is not pulled either. */
class SseBody implements AsyncIterableIterator<string> {
  #first: Event | undefined;
  #ended = false;
  readonly #events: AsyncIterator<Event>;
  readonly #form: StreamForm;

  constructor(first: Event, events: AsyncIterator<Event>, form: StreamForm) {
    this.#first = first;
    this.#events = events;
    this.#form = form;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, void>> {
    const first = this.#first;
    if (first !== undefined) {
      this.#first = undefined;
      return { done: false, value: this.#write(first) };
    }
    if (this.#ended) return { done: true, value: undefined };
    try {
      const step = await this.#events.next();
      if (step.done) return { done: true, value: undefined };
      return { done: false, value: this.#write(step.value) };
    } catch (thrown) {
      this.#ended = true;
      return { done: false, value: this.#form.failure(AgentError.from(thrown)) };
    }
  }

  async return(): Promise<IteratorResult<string, void>> {
    this.#ended = true;
    await this.#events.return?.();
    return { done: true, value: undefined };
  }

  #write(event: Event): string {
    return encodeSse(this.#form.event(event), event.cursor);
  }
}
