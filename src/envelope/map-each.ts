import { type ReadyIterator, type ReadyWaiter, TAKE_READY, WHEN_READY } from "./take-ready.js";

/**
 * The same items, each after `map`. An object and not a generator: an item costs no turn of its own, and items that are ready stay so.
 * If `map` throws, the reader fails with that error and the source is stopped.
 */
export function mapEach<T>(items: AsyncIterable<T>, map: (item: T) => T): AsyncIterableIterator<T> {
  return new MappedIterator(items[Symbol.asyncIterator](), map);
}

class MappedIterator<T> implements AsyncIterableIterator<T> {
  readonly #source: ReadyIterator<T>;
  readonly #map: (item: T) => T;
  #over = false;

  constructor(source: ReadyIterator<T>, map: (item: T) => T) {
    this.#source = source;
    this.#map = map;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    return this.#over ? Promise.resolve(OVER) : this.#source.next().then(this.#took);
  }

  [TAKE_READY](): T | undefined {
    const item = this.#over ? undefined : this.#source[TAKE_READY]?.();
    return item === undefined ? undefined : this.#mapped(item);
  }

  [WHEN_READY](waiter: ReadyWaiter): boolean {
    return !this.#over && this.#source[WHEN_READY]?.(waiter) === true;
  }

  async return(): Promise<IteratorResult<T>> {
    this.#over = true;
    await this.#source.return?.();
    return OVER;
  }

  readonly #took = (step: IteratorResult<T>): IteratorResult<T> =>
    step.done === true ? step : { done: false, value: this.#mapped(step.value) };

  #mapped(item: T): T {
    try {
      return this.#map(item);
    } catch (thrown) {
      this.return().catch(() => undefined); // the reader gets the first error
      throw thrown;
    }
  }
}

const OVER: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });
