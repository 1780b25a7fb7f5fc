import { type AgentEvent, type ReadyWaiter, TAKE_READY, WHEN_READY } from "../envelope/index.js";
import { JournalReader } from "./journal-reader.js";
import { rethrowAsAgentError } from "./refusals.js";

const OVER: IteratorResult<AgentEvent> = Object.freeze({ done: true, value: undefined });

type Opening = Promise<JournalReader | AgentEvent>;

/**
 * A lazily opened stream of events: one event, or a journal reader. Not a generator, because
 * `return()` must not wait for a pending read.
 */
export class EventStream implements AsyncIterableIterator<AgentEvent> {
  /** What opens it, then what is opened, then its reader: an open stream keeps nothing of its request. */
  #source: (() => Opening) | Opening | JournalReader;
  #over = false;

  constructor(open: () => Opening) {
    this.#source = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Reads directly from the reader once it exists: one promise per event instead of two. */
  next(): Promise<IteratorResult<AgentEvent>> {
    const source = this.#source;
    if (this.#over) return Promise.resolve(OVER);
    return source instanceof JournalReader ? source.next() : this.#first(source);
  }

  [TAKE_READY](): AgentEvent | undefined {
    const source = this.#source;
    return this.#over || !(source instanceof JournalReader) ? undefined : source[TAKE_READY]();
  }

  [WHEN_READY](waiter: ReadyWaiter): boolean {
    const source = this.#source;
    return !this.#over && source instanceof JournalReader && source[WHEN_READY](waiter);
  }

  async #first(source: (() => Opening) | Opening): Promise<IteratorResult<AgentEvent>> {
    const opening = typeof source === "function" ? source() : source;
    this.#source = opening;
    const opened = await opening.catch(rethrowAsAgentError);
    if (opened instanceof JournalReader) {
      this.#source = opened;
      return opened.next();
    }
    if (this.#over) return OVER;
    this.#over = true;
    return { done: false, value: opened };
  }

  /** Stops reading. The task continues. */
  async return(): Promise<IteratorResult<AgentEvent>> {
    this.#over = true;
    const source = this.#source;
    if (source instanceof JournalReader) await source.return();
    else if (typeof source !== "function")
      void source.then(
        (opened) => (opened instanceof JournalReader ? opened.return() : undefined),
        () => undefined,
      );
    return OVER;
  }
}
