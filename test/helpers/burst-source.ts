import { type ReadyIterator, TAKE_READY, WHEN_READY } from "../../src/envelope/index.js";

/** Items that are all there at once; an error among them is thrown in its place. */
export class BurstSource<T> implements AsyncIterableIterator<T>, ReadyIterator<T> {
  stopped = false;
  readonly #items: (T | Error)[];

  constructor(...items: (T | Error)[]) {
    this.#items = items;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T>> {
    const value = this[TAKE_READY]();
    return value === undefined ? { done: true, value } : { done: false, value };
  }

  [TAKE_READY](): T | undefined {
    const item = this.#items.shift();
    if (item instanceof Error) throw item;
    return item;
  }

  /** Whoever waits is never told: there is nothing more. */
  [WHEN_READY](): boolean {
    return true;
  }

  async return(): Promise<IteratorResult<T>> {
    this.stopped = true;
    return { done: true, value: undefined };
  }
}
