import { DONE } from "../../policies/replies/iterators.js";
import type { CapturedMessage, CaptureFeed, CaptureFilter } from "./captured-message.js";
import type { Entry } from "./entry.js";

type Waiting = (result: IteratorResult<CapturedMessage>) => void;

/**
 * One reader of the log. Its queue is a set of log entries ordered by their last change: a slow reader blocks nobody and holds
 * nothing beyond the log.
 */
export class FeedReader implements AsyncIterableIterator<CapturedMessage>, CaptureFeed {
  readonly #filter: CaptureFilter;
  readonly #pending = new Set<Entry>();
  readonly #waiting: Waiting[] = [];
  readonly #onEnd: () => void;
  missed = 0;
  #ended = false;

  constructor(filter: CaptureFilter, signal: AbortSignal, onEnd: () => void) {
    this.#filter = filter;
    const stop = (): void => void this.end();
    this.#onEnd = () => {
      signal.removeEventListener("abort", stop);
      onEnd();
    };
    // Deferred so that the creator has registered the reader before it is removed.
    if (signal.aborted) queueMicrotask(stop);
    else signal.addEventListener("abort", stop, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  offer(entry: Entry): void {
    this.#pending.delete(entry);
    if (this.#ended || !entry.matches(this.#filter)) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#pending.add(entry);
    else waiting({ done: false, value: entry.message() });
  }

  evict(entry: Entry): void {
    if (this.#pending.delete(entry)) this.missed++;
  }

  next(): Promise<IteratorResult<CapturedMessage>> {
    if (this.#ended) return Promise.resolve(DONE);
    const [first] = this.#pending;
    if (first !== undefined) {
      this.#pending.delete(first);
      return Promise.resolve({ done: false, value: first.message() });
    }
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<CapturedMessage>> {
    this.end();
    return Promise.resolve(DONE);
  }

  end(): this {
    if (this.#ended) return this;
    this.#ended = true;
    this.#pending.clear();
    this.#onEnd();
    for (const waiting of this.#waiting.splice(0)) waiting(DONE);
    return this;
  }
}
