const nothing = (): void => undefined;

/**
 * Tells a source that nobody reads on, without waiting for it: a generator that waits answers `return()` only when its
 * wait ends. What it still throws belongs to nobody.
 */
export function stopIterator(source: AsyncIterator<unknown>): void {
  try {
    const stopped = source.return?.();
    if (stopped !== undefined) Promise.resolve(stopped).catch(nothing);
  } catch {
    // A source that cannot even be told to stop has nothing to say to a reader that has left.
  }
}
