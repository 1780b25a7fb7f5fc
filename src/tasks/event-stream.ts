import { type AgentEvent, TAKE_READY } from "../envelope/index.js";
import { JournalReader } from "./journal-reader.js";
import { rethrowAsAgentError } from "./refusals.js";

const OVER: IteratorResult<AgentEvent> = Object.freeze({ done: true, value: undefined });

/**
 * A lazily opened stream of events: one event, or a journal reader. Not a generator, because
 * `return()` must not wait for a pending read.
 */
export class EventStream implements AsyncIterableIterator<AgentEvent> {
  readonly #open: () => Promise<JournalReader | AgentEvent>;
  #opened: Promise<JournalReader | AgentEvent> | undefined;
  #reader: JournalReader | undefined;
  #over = false;

  constructor(open: () => Promise<JournalReader | AgentEvent>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Reads directly from the reader once it exists: one promise per event instead of two. */
  next(): Promise<IteratorResult<AgentEvent>> {
    return this.#reader === undefined || this.#over ? this.#first() : this.#reader.next();
  }

  [TAKE_READY](): AgentEvent | undefined {
    return this.#over ? undefined : this.#reader?.[TAKE_READY]();
  }

  async #first(): Promise<IteratorResult<AgentEvent>> {
    if (this.#over) return OVER;
    this.#opened ??= this.#open();
    const opened = await this.#opened.catch(rethrowAsAgentError);
    if (opened instanceof JournalReader) {
      this.#reader = opened;
      return opened.next();
    }
    if (this.#over) return OVER;
    this.#over = true;
    return { done: false, value: opened };
  }

  /** Stops reading. The task continues. */
  async return(): Promise<IteratorResult<AgentEvent>> {
    this.#over = true;
    void this.#opened?.then(
      (opened) => (opened instanceof JournalReader ? opened.return() : undefined),
      () => undefined,
    );
    return OVER;
  }
}
