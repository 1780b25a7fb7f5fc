/** Time as the runtime uses it. Injected, so that a test decides when it passes. */
export interface Timers {
  /** Once, after `ms`. The returned function takes it back. */
  after(ms: number, run: () => void): () => void;
  /** Again and again, until taken back; never keeps a process alive. */
  every(ms: number, run: () => void): () => void;
  /** After everything that runs on without waiting: where the entries of one tick become one append. */
  soon(run: () => void): void;
  /** In the next turn of the event loop, after input and output had theirs. */
  nextTurn(run: () => void): void;
}

/** setTimeout takes at most this; a longer wait would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The platform's own timers. */
export const platformTimers: Timers = Object.freeze({
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), LONGEST_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
  every(ms: number, run: () => void) {
    const timer = setInterval(run, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  soon(run: () => void) {
    process.nextTick(run);
  },
  nextTurn(run: () => void) {
    setImmediate(run);
  },
});
