/** The method of iterators that may have several items at once. */
export const TAKE_READY: unique symbol = Symbol("take ready");

/**
 * An iterator whose items can be taken without a promise each, as long as there are any. Undefined: `next` tells whether more come. Not
 * called while a `next` is pending. What it throws is what `next` would have rejected with.
 */
export interface ReadyIterator<T> extends AsyncIterator<T> {
  [TAKE_READY]?(): T | undefined;
}
