/** The method of iterators that may have several items at once. */
export const TAKE_READY: unique symbol = Symbol("take ready");
/** The method of iterators that tell when they may have more. */
export const WHEN_READY: unique symbol = Symbol("when ready");

/** Waits for an iterator. */
export interface ReadyWaiter {
  /** Must not throw. */
  ready(): void;
}

/**
 * An iterator whose items can be taken without a promise each, as long as there are any. Undefined: `next` tells whether more come. Not
 * called while a `next` is pending. What it throws is what `next` would have rejected with.
 */
export interface ReadyIterator<T> extends AsyncIterator<T> {
  [TAKE_READY]?(): T | undefined;
  /**
   * After nothing was ready: calls `waiter` once, when there may be items, the end or an error. Until then nobody calls `next`, whose promise
   * each idle stream would keep. False: only `next` can wait.
   */
  [WHEN_READY]?(waiter: ReadyWaiter): boolean;
}
