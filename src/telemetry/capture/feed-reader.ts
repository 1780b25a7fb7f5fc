import { DONE } from "../../policies/replies/done.js";
import type { CapturedMessage, CaptureFeed, CaptureFilter } from "./captured-message.js";
import type { Entry } from "./entry.js";

type Waiting = (result: IteratorResult<CapturedMessage>) => void;

/**
 * One reader of the log. What waits for it is a set of entries of the log itself, in the order of their last change: a slow
 * reader makes nobody wait, and holds nothing that the log does not hold.
 */
export class FeedReader implements AsyncIterableIterator<CapturedMessage>, CaptureFeed {
  readonly #filter: CaptureFilter;
  readonly #pending = new Set<Entry>();
  readonly #waiting: Waiting[] = [];
  readonly #leave: () => void;
  missed = 0;
  #over = false;

  constructor(filter: CaptureFilter, signal: AbortSignal, leave: () => void) {
    this.#filter = filter;
    const stop = (): void => void this.end();
    this.#leave = () => {
      signal.removeEventListener("abort", stop);
      leave();
    };
    // Later, so that whoever makes the reader knows it before it leaves.
    if (signal.aborted) queueMicrotask(stop);
    else signal.addEventListener("abort", stop, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  offer(entry: Entry): void {
    this.#pending.delete(entry);
    if (this.#over || !entry.matches(this.#filter)) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#pending.add(entry);
    else waiting({ done: false, value: entry.sighting() });
  }

  forget(entry: Entry): void {
    if (this.#pending.delete(entry)) this.missed++;
  }

  next(): Promise<IteratorResult<CapturedMessage>> {
    if (this.#over) return Promise.resolve(DONE);
    const [first] = this.#pending;
    if (first !== undefined) {
      this.#pending.delete(first);
      return Promise.resolve({ done: false, value: first.sighting() });
    }
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<CapturedMessage>> {
    this.end();
    return Promise.resolve(DONE);
  }

  end(): this {
    if (this.#over) return this;
    this.#over = true;
    this.#pending.clear();
    this.#leave();
    for (const waiting of this.#waiting.splice(0)) waiting(DONE);
    return this;
  }
}
