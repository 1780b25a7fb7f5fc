import type { Maybe } from "../../envelope/index.js";
import { DONE } from "../../policies/replies/iterators.js";
import type { CapturedMessage, CaptureFeed, CaptureFilter } from "./captured-message.js";
import type { Entry } from "./entry.js";

type Waiting = (result: IteratorResult<CapturedMessage>) => void;

export interface FeedReaderParts {
  readonly filter: CaptureFilter;
  /** Starts after this `seq`. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** The entries of the log whose last change is later, oldest change first. */
  changedSince(seq: number): readonly Entry[];
  onEnd(): void;
}

/** An entry to deliver, unless it has changed again until then. */
interface Pending {
  readonly entry: Entry;
  readonly seq: number;
}

/**
 * One reader of the log, which is in order of the last changes: a reader is a position in it. A slow one blocks nobody and holds nothing
 * beyond the log.
 */
export class FeedReader implements AsyncIterableIterator<CapturedMessage>, CaptureFeed {
  readonly #parts: FeedReaderParts;
  /** Of the message delivered last. */
  #seq: number;
  /** A part of the log, latest change first. */
  #pending: Pending[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #stopListening: () => void;
  missed = 0;
  #ended = false;

  constructor(parts: FeedReaderParts) {
    this.#parts = parts;
    this.#seq = parts.after;
    const { signal } = parts;
    const stop = (): void => void this.end();
    this.#stopListening = () => signal.removeEventListener("abort", stop);
    // Deferred so that the creator has registered the reader before it is removed.
    if (signal.aborted) queueMicrotask(stop);
    else signal.addEventListener("abort", stop, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** A reader that waits has had everything before. */
  offer(entry: Entry): void {
    if (this.#waiting.length === 0 || !entry.matches(this.#parts.filter)) return;
    const value = this.#delivered(entry);
    this.#waiting.shift()?.({ done: false, value });
  }

  evict(entry: Entry): void {
    if (entry.seq > this.#seq && entry.matches(this.#parts.filter)) this.missed++;
  }

  next(): Promise<IteratorResult<CapturedMessage>> {
    if (this.#ended) return Promise.resolve(DONE);
    const entry = this.#next();
    if (entry !== undefined) return Promise.resolve({ done: false, value: this.#delivered(entry) });
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  #next(): Maybe<Entry> {
    for (;;) {
      const pending = this.#pending.pop() ?? this.#readOn();
      if (pending === undefined) return undefined;
      const { entry, seq } = pending;
      // One that has changed again is found again, and an evicted one is counted.
      if (entry.seq === seq && entry.inLog.isTaken) return entry;
    }
  }

  #readOn(): Maybe<Pending> {
    const { filter, changedSince } = this.#parts;
    const changed = changedSince(this.#seq).filter((entry) => entry.matches(filter));
    this.#pending = changed.reverse().map((entry) => ({ entry, seq: entry.seq }));
    return this.#pending.pop();
  }

  #delivered(entry: Entry): CapturedMessage {
    this.#seq = entry.seq;
    return entry.message();
  }

  return(): Promise<IteratorResult<CapturedMessage>> {
    this.end();
    return Promise.resolve(DONE);
  }

  end(): this {
    if (this.#ended) return this;
    this.#ended = true;
    this.#pending = [];
    this.#stopListening();
    this.#parts.onEnd();
    for (const waiting of this.#waiting.splice(0)) waiting(DONE);
    return this;
  }
}
