import type { Maybe } from "../../envelope/index.js";

/** What a new latency counts at least, so that many at one moment are still heard. */
const LEAST_SHARE = 0.1;

/**
 * An average that forgets with time (EWMA on the clock, not on the number of calls): what is `decayMs` old counts a third.
 * It also fades while nothing is heard, so that whoever was slow once is asked again some day.
 */
export class LatencyAverage {
  readonly #decayMs: number;
  #ms: Maybe<number>;
  #atMs = 0;

  constructor(decayMs: number) {
    this.#decayMs = decayMs;
  }

  add(ms: number, nowMs: number): void {
    const before = this.#ms;
    const share = Math.max(LEAST_SHARE, 1 - this.#faded(nowMs));
    this.#ms = before === undefined ? ms : before + (ms - before) * share;
    this.#atMs = nowMs;
  }

  /** Undefined before the first. */
  value(nowMs: number): Maybe<number> {
    return this.#ms === undefined ? undefined : this.#ms * this.#faded(nowMs);
  }

  /** What is left of 1 after the time since the last latency. A clock that was set back has let no time pass. */
  #faded(nowMs: number): number {
    return Math.exp(-Math.max(0, nowMs - this.#atMs) / this.#decayMs);
  }
}
