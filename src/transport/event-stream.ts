import {
  AgentError,
  type AgentEvent,
  type Envelope,
  type Head,
  isPromise,
  type Maybe,
  type ReadyIterator,
  type ReadyWaiter,
  type Reply,
  TAKE_READY,
  WHEN_READY,
} from "../envelope/index.js";
import type { HttpRequest, HttpResponse } from "./exchange.js";
import type { Limits } from "./limits.js";
import { type EncodeSse, encodeSse, SSE_COMMENT } from "./sse.js";

/** How one binding encodes a stream: its events, and the error when the stream fails. */
export interface StreamForm {
  /**
   * The data of one event. A list if the protocol uses several of its own events, or none; the cursor is then sent with the last one,
   * so that a resuming client misses nothing.
   */
  event(event: AgentEvent): string | readonly string[];
  failure(error: AgentError): string;
  /** Default: `encodeSse`. JSON without white space has no line ends to look for: `sseLineEncoder`. */
  readonly encode?: EncodeSse;
  /** The protocol ends its stream here, even if the handler has more events. */
  endsAfter?(event: AgentEvent): boolean;
}

/** Whether the request accepts event streams. */
export function wantsEvents(request: HttpRequest): boolean {
  return request.headers["accept"]?.includes("text/event-stream") === true;
}

/** The same, for a message that may say so itself: its `stream: true` counts unless `Accept` rules a stream out (RFC 9110 §12.5.1). */
export function wantsEventsFor(request: HttpRequest, { context }: Pick<Envelope, "context">): boolean {
  if (wantsEvents(request)) return true;
  const accept = request.headers["accept"];
  return context.stream === true && (accept === undefined || /\*\/\*|text\/\*/.test(accept));
}

const SSE_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" } as const;

/**
 * The stream's response. Created only after the first event has arrived: an earlier failure becomes an ordinary error response,
 * written by the caller of this function.
 */
export async function streamResponse(
  reply: Reply,
  form: StreamForm,
  limits: Limits,
  headers?: Maybe<Head | ((first: AgentEvent) => Head)>,
): Promise<HttpResponse> {
  const events = isPromise(reply) ? once(await reply) : reply[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done) throw new AgentError("internal", "the stream ended before its first event");
  const extra = typeof headers === "function" ? headers(first.value) : headers;
  return {
    status: 200,
    headers: extra === undefined ? SSE_HEADERS : { ...SSE_HEADERS, ...extra },
    body: new SseBody(first.value, events, form),
    idle: { chunk: SSE_COMMENT, everyMs: limits.keepAliveMs },
  };
}

async function* once(event: AgentEvent): AsyncGenerator<AgentEvent, void, void> {
  yield event;
}

const DONE: IteratorResult<string, void> = Object.freeze({ done: true, value: undefined });

/** Pulls one event at a time: when the socket is full, the handler is not pulled. */
class SseBody implements AsyncIterableIterator<string> {
  #first: AgentEvent | undefined;
  #ended = false;
  readonly #events: ReadyIterator<AgentEvent>;
  readonly #form: StreamForm;

  constructor(first: AgentEvent, events: AsyncIterator<AgentEvent>, form: StreamForm) {
    this.#first = first;
    this.#events = events;
    this.#form = form;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<string, void>> {
    try {
      while (!this.#ended) {
        let event = this.#first;
        this.#first = undefined;
        if (event === undefined) {
          const step = await this.#events.next();
          if (step.done) break;
          event = step.value;
        }
        const text = this.#write(event);
        if (this.#form.endsAfter?.(event) === true) await this.return();
        // Skip events that this protocol cannot express.
        if (text !== "") return { done: false, value: text };
      }
      this.#ended = true;
      return DONE;
    } catch (thrown) {
      this.#ended = true;
      return { done: false, value: this.#form.failure(AgentError.from(thrown)) };
    }
  }

  /** The events of a burst, without a promise each. One that ends the stream is left to `next`, which waits for the end. */
  [TAKE_READY](): string | undefined {
    try {
      while (!this.#ended && this.#first === undefined) {
        const event = this.#events[TAKE_READY]?.();
        if (event === undefined) return undefined;
        if (this.#form.endsAfter?.(event) === true) {
          this.#first = event;
          return undefined;
        }
        const text = this.#write(event);
        if (text !== "") return text;
      }
      return undefined;
    } catch (thrown) {
      this.#ended = true;
      return this.#form.failure(AgentError.from(thrown));
    }
  }

  [WHEN_READY](waiter: ReadyWaiter): boolean {
    return !this.#ended && this.#first === undefined && this.#events[WHEN_READY]?.(waiter) === true;
  }

  async return(): Promise<IteratorResult<string, void>> {
    this.#ended = true;
    await this.#events.return?.();
    return DONE;
  }

  #write(event: AgentEvent): string {
    const data = this.#form.event(event);
    const { encode = encodeSse } = this.#form;
    if (typeof data === "string") return encode(data, event.cursor);
    const last = data.length - 1;
    let text = "";
    // No list of texts to join: most events are one.
    for (let index = 0; index <= last; index++) text += encode(data[index] as string, index === last ? event.cursor : undefined); // index <= last
    return text;
  }
}
