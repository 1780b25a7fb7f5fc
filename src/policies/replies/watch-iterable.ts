import { type ReadyIterator, type ReadyWaiter, TAKE_READY, WHEN_READY } from "../../envelope/index.js";
import { DONE, stopIterator } from "./iterators.js";

/** Callbacks for one iteration. */
export interface IterationWatch<T> {
  /** Wraps each pull of the source, for watchers that need an async context. */
  within?<R>(run: () => R): R;
  /** Called with each value before the reader gets it. If it throws, the reader fails with that error and the source is stopped. */
  item(value: T): void;
  /** Called exactly once. If it throws after `ended`, the reader fails with that error; `thrown` is set after `failed` only. */
  end(how: "ended" | "stopped" | "failed", thrown?: unknown): void;
}

/** The same values, watched. An object and not a generator, so that `return()` settles at once even while the source waits. */
export function watchIterable<T>(iterable: AsyncIterable<T>, watch: IterationWatch<T>): AsyncIterableIterator<T> {
  return new WatchedIterator(iterable, watch);
}

class WatchedIterator<T> implements AsyncIterableIterator<T> {
  readonly #iterable: AsyncIterable<T>;
  readonly #watch: IterationWatch<T>;
  #source: ReadyIterator<T> | undefined;
  #over = false;

  constructor(iterable: AsyncIterable<T>, watch: IterationWatch<T>) {
    this.#iterable = iterable;
    this.#watch = watch;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#over) return Promise.resolve(DONE);
    try {
      const watch = this.#watch;
      const pulled = watch.within === undefined ? this.#open().next() : watch.within(() => this.#open().next());
      return pulled.then(
        (result) => this.#took(result),
        (thrown: unknown) => this.#threw(thrown),
      );
    } catch (thrown) {
      return new Promise((resolve) => resolve(this.#threw(thrown)));
    }
  }

  /** A watcher that surrounds each pull sees them all through `next`. */
  [TAKE_READY](): T | undefined {
    if (this.#over || this.#watch.within !== undefined) return undefined;
    let value: T | undefined;
    try {
      value = this.#source?.[TAKE_READY]?.();
    } catch (thrown) {
      this.#threw(thrown);
    }
    if (value !== undefined) this.#see(value);
    return value;
  }

  [WHEN_READY](waiter: ReadyWaiter): boolean {
    return !this.#over && this.#watch.within === undefined && this.#source?.[WHEN_READY]?.(waiter) === true;
  }

  return(): Promise<IteratorResult<T>> {
    if (this.#over) return Promise.resolve(DONE);
    this.#over = true;
    try {
      stopIterator(this.#open());
    } finally {
      this.#watch.end("stopped");
    }
    return Promise.resolve(DONE);
  }

  #open(): ReadyIterator<T> {
    this.#source ??= this.#iterable[Symbol.asyncIterator]();
    return this.#source;
  }

  #took(result: IteratorResult<T>): IteratorResult<T> {
    if (this.#over) return DONE; // the reader left during the pull
    if (result.done === true) {
      this.#over = true;
      this.#watch.end("ended");
      return DONE;
    }
    this.#see(result.value);
    return result;
  }

  #see(value: T): void {
    try {
      this.#watch.item(value);
    } catch (thrown) {
      stopIterator(this.#open());
      this.#threw(thrown);
    }
  }

  #threw(thrown: unknown): IteratorResult<T> {
    if (this.#over) return DONE; // the reader has left
    this.#over = true;
    this.#watch.end("failed", thrown);
    throw thrown;
  }
}
