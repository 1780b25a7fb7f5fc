import {
  AgentError,
  type AgentEvent,
  type ReadyIterator,
  type ReadyWaiter,
  TAKE_READY,
  WHEN_READY,
} from "../../../envelope/index.js";
import { OK } from "../grpc/status.js";
import { type CallDeadline, NO_DEADLINE } from "./call-deadline.js";

type Trailers = { readonly [name: string]: string };

export interface GrpcBodyParts {
  readonly events: ReadyIterator<AgentEvent>;
  readonly deadline: CallDeadline;
  frame(event: AgentEvent): Uint8Array;
  failure(error: AgentError): Trailers;
}

/**
 * A stream of messages, pulled one at a time: a full connection stops pulling from the handler. An error after the start is
 * reported in the trailers.
 */
export class GrpcBody implements AsyncIterableIterator<Uint8Array> {
  readonly #parts: GrpcBodyParts;
  #first: AgentEvent | undefined;
  #ended = false;
  #trailers: Trailers = OK;

  constructor(parts: GrpcBodyParts) {
    this.#parts = parts;
  }

  /** Waits for the first event. Throws an earlier error. */
  async begin(): Promise<void> {
    const { events, deadline } = this.#parts;
    try {
      const first = await deadline.limit(events.next());
      if (first.done) throw new AgentError("internal", "the stream ended before its first event");
      this.#first = first.value;
    } catch (thrown) {
      this.#stop();
      throw thrown;
    }
  }

  /** Valid after the body has ended. */
  get trailers(): Trailers {
    return this.#trailers;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, void>> {
    if (this.#ended) return { done: true, value: undefined };
    const { events, deadline, frame, failure } = this.#parts;
    try {
      const first = this.#first;
      if (first !== undefined) {
        this.#first = undefined;
        return { done: false, value: frame(first) };
      }
      const step = await deadline.limit(events.next());
      if (!step.done) return { done: false, value: frame(step.value) };
      this.#ended = true;
      deadline.end();
    } catch (thrown) {
      this.#trailers = failure(AgentError.from(thrown));
      this.#stop();
    }
    return { done: true, value: undefined };
  }

  /** The messages of a burst, without a promise each. */
  [TAKE_READY](): Uint8Array | undefined {
    if (this.#ended || this.#first !== undefined) return undefined;
    const { events, frame, failure } = this.#parts;
    try {
      const event = events[TAKE_READY]?.();
      return event === undefined ? undefined : frame(event);
    } catch (thrown) {
      this.#trailers = failure(AgentError.from(thrown));
      this.#stop();
      return undefined;
    }
  }

  /** A deadline ends the wait of `next`. */
  [WHEN_READY](waiter: ReadyWaiter): boolean {
    const { events, deadline } = this.#parts;
    return !this.#ended && this.#first === undefined && deadline === NO_DEADLINE && events[WHEN_READY]?.(waiter) === true;
  }

  async return(): Promise<IteratorResult<Uint8Array, void>> {
    this.#stop();
    return { done: true, value: undefined };
  }

  /** Not awaited: `return()` of a waiting generator settles only when the wait ends. */
  #stop(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#parts.deadline.end();
    this.#parts.events.return?.()?.catch(() => undefined);
  }
}
