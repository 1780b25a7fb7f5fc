import type { Maybe } from "../../envelope/index.js";

/** The minimum weight of a new latency, so that several at one moment all count. */
const LEAST_SHARE = 0.1;

/**
 * An exponentially weighted average by time, not by number of calls: a value `decayMs` old counts a third. It also decays
 * without new values, so that a slow destination is tried again.
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

  /** The remaining share of 1 since the last latency. A clock that was set back counts as no time. */
  #faded(nowMs: number): number {
    return Math.exp(-Math.max(0, nowMs - this.#atMs) / this.#decayMs);
  }
}
