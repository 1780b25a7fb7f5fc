import { backgroundClock, type Clock } from "../policies/index.js";

/** Time as the runtime uses it, injected. None of these timers keeps a process alive. */
export interface Timers extends Pick<Clock, "after"> {
  /** Repeats until the returned function is called. `lateMs`: how long the event loop was blocked when it was due. */
  every(ms: number, run: (lateMs: number) => void): () => void;
  /** At the end of this tick, after pending microtasks: the entries of one tick become one append. */
  soon(run: () => void): void;
  /** In the next turn of the event loop, after pending input and output. */
  nextTurn(run: () => void): void;
}

/** The platform's own timers. */
export const platformTimers: Timers = Object.freeze({
  after: backgroundClock.after,
  every(ms: number, run: (lateMs: number) => void) {
    let due = performance.now() + ms;
    const timer = setInterval(() => {
      const now = performance.now();
      const lateMs = now - due;
      due = now + ms;
      run(lateMs);
    }, ms);
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
