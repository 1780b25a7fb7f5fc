/** The result of a finished iterator. */
export const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

const nothing = (): void => undefined;

/**
 * Stops a source without waiting for it: a suspended generator answers `return()` only when its
 * await settles. Errors are ignored.
 */
export function stopIterator(source: AsyncIterator<unknown>): void {
  try {
    const stopped = source.return?.();
    if (stopped !== undefined) Promise.resolve(stopped).catch(nothing);
  } catch {
    // The reader has left: nobody needs this error.
  }
}
