import {
  AgentError,
  type AgentEvent,
  type CancelSource,
  isClosing,
  type Maybe,
  type Part,
  partBytes,
  type Reply,
  type Task,
} from "../../envelope/index.js";
import { DONE, stopIterator } from "../replies/iterators.js";
import { iteratorOf } from "../replies/shape.js";

export interface SharedAnswerLimits {
  readonly eventsPerEntry: number;
  readonly bytesPerEntry: number;
}

/** How an answer ended: complete, failed, or abandoned by all readers. */
export type AnswerEnd = "complete" | "failed" | "abandoned";

export interface SharedAnswerOptions {
  readonly reply: Reply;
  /** Cancels the call when all readers have left. */
  readonly cancel: CancelSource;
  /** One event is the whole answer. */
  readonly single: boolean;
  readonly limits: SharedAnswerLimits;
  ended(how: AnswerEnd): void;
}

/**
 * One answer with several readers, each from the beginning and at its own pace. The source is pulled only when a reader has
 * read everything cached. Up to the limits everything is cached. Beyond them nobody can join, and only the first reader
 * continues; the others get an `interrupted` error.
 */
export class SharedAnswer {
  readonly #options: SharedAnswerOptions;
  readonly #source: AsyncIterator<AgentEvent>;
  readonly #readers = new Set<AnswerReader>();
  readonly #log: AgentEvent[] = [];
  #bytes = 0;
  /** Events the first reader got that are not in the log. */
  #beyond = 0;
  #pull: Maybe<Promise<IteratorResult<AgentEvent>>>;
  #end: Maybe<AnswerEnd>;
  #thrown: unknown;

  constructor(options: SharedAnswerOptions) {
    this.#options = options;
    this.#source = iteratorOf(options.reply);
  }

  /** The answer exceeded the limits of the log. */
  get overflowed(): boolean {
    const { eventsPerEntry, bytesPerEntry } = this.#options.limits;
    return this.#log.length > eventsPerEntry || this.#bytes > bytesPerEntry;
  }

  join(): AnswerReader {
    const reader = new AnswerReader(this);
    this.#readers.add(reader);
    return reader;
  }

  leave(reader: AnswerReader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0 || this.#end !== undefined) return;
    const last = this.#log.at(-1);
    const left = new AgentError("cancelled", "all readers of this answer have left");
    this.#thrown = left;
    this.#finish(last !== undefined && isClosing(last) ? "complete" : "abandoned");
    stopIterator(this.#source);
    this.#options.cancel.cancel(left);
  }

  async read(reader: AnswerReader, position: number): Promise<IteratorResult<AgentEvent>> {
    for (;;) {
      const kept = this.#log[position];
      if (kept !== undefined) return { done: false, value: kept };
      if (this.#end === "complete") return DONE;
      if (this.#end !== undefined) throw this.#thrown;
      if (!this.overflowed) await this.#onePull();
      else if (this.#isNext(reader, position)) return await this.#onePull();
      else throw tooLong("interrupted");
    }
  }

  /** Beyond the log only the first reader continues; a successor must have read all of it. */
  #isNext(reader: AnswerReader, position: number): boolean {
    return this.#readers.values().next().value === reader && position === this.#log.length + this.#beyond;
  }

  /** One pull at a time, shared by all waiting readers. */
  #onePull(): Promise<IteratorResult<AgentEvent>> {
    this.#pull ??= this.#pulled();
    return this.#pull;
  }

  async #pulled(): Promise<IteratorResult<AgentEvent>> {
    try {
      const step = await this.#source.next();
      if (step.done === true) this.#finish("complete");
      else this.#keep(step.value);
      return step;
    } catch (thrown) {
      this.#thrown = thrown;
      this.#finish("failed");
      throw thrown;
    } finally {
      this.#pull = undefined;
    }
  }

  /** The event that exceeds a limit is the last in the log, so that waiting readers get it. */
  #keep(event: AgentEvent): void {
    if (this.overflowed) {
      this.#beyond += 1;
      return;
    }
    this.#log.push(event);
    for (const part of partsIn(event)) this.#bytes += partBytes(part);
    if (this.#options.single) this.#finish("complete");
  }

  #finish(how: AnswerEnd): void {
    if (this.#end !== undefined) return;
    this.#end = how;
    this.#options.ended(how);
  }
}

/** A reader of a shared answer. */
export class AnswerReader implements AsyncIterableIterator<AgentEvent> {
  readonly #answer: SharedAnswer;
  /** Pulls of one reader are serialized: each is for the next position. */
  #turn: Promise<unknown> = Promise.resolve();
  #position = 0;
  #over = false;

  constructor(answer: SharedAnswer) {
    this.#answer = answer;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const step = this.#turn.then(() => this.#step());
    this.#turn = step.catch(() => undefined);
    return step;
  }

  async #step(): Promise<IteratorResult<AgentEvent>> {
    if (this.#over) return DONE;
    try {
      const step = await this.#answer.read(this, this.#position);
      this.#position += 1;
      if (step.done === true) this.#leave();
      return step;
    } catch (thrown) {
      this.#leave();
      throw thrown;
    }
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    this.#leave();
    return DONE;
  }

  #leave(): void {
    this.#over = true;
    this.#answer.leave(this);
  }
}

/** The error of a second reader when the answer was not cached completely. */
export function tooLong(code: "interrupted" | "conflict"): AgentError {
  const words = "the answer to this idempotency key is longer than what is kept for a second reader";
  return new AgentError(code, words, { sent: code === "conflict" ? "no" : "maybe", field: "context.idempotencyKey" });
}

function partsIn(event: AgentEvent): readonly Part[] {
  switch (event.kind) {
    case "message":
      return event.message.content;
    case "status":
      return event.status.message?.content ?? [];
    case "artifact":
      return event.artifact.parts;
    case "task":
      return partsOfTask(event.task);
    default:
      return []; // does not answer a send
  }
}

function partsOfTask({ status, artifacts, history }: Task): readonly Part[] {
  const messages = status.message === undefined ? history : [...history, status.message];
  return [...messages.flatMap(({ content }) => content), ...artifacts.flatMap(({ parts }) => parts)];
}
