import type { Maybe } from "../../envelope/index.js";

export interface LatencyWindowOptions {
  /** Between 0 and 1: 0.95 is the time within which 95 of 100 answered. */
  readonly percentile: number;
  /** Samples kept. */
  readonly samples: number;
  /** The age limit of samples. */
  readonly keepMs: number;
  /** The minimum number of samples for a value. */
  readonly enough: number;
}

/** A percentile of the latest latencies, by nearest rank. Bounded by number and age. */
export class LatencyWindow {
  readonly #options: LatencyWindowOptions;
  readonly #ms: Float64Array;
  readonly #at: Float64Array;
  #next = 0;
  #count = 0;
  /** The value and how long it is valid: a new sample changes it, and so does the expiry of the oldest. */
  #value: Maybe<number>;
  #holdsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: LatencyWindowOptions) {
    this.#options = options;
    this.#ms = new Float64Array(options.samples);
    this.#at = new Float64Array(options.samples);
  }

  add(ms: number, nowMs: number): void {
    this.#ms[this.#next] = ms;
    this.#at[this.#next] = nowMs;
    this.#next = (this.#next + 1) % this.#ms.length;
    this.#count = Math.min(this.#count + 1, this.#ms.length);
    this.#holdsUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Undefined if there are too few recent samples. */
  value(nowMs: number): Maybe<number> {
    if (nowMs >= this.#holdsUntilMs) this.#measure(nowMs);
    return this.#value;
  }

  #measure(nowMs: number): void {
    const { percentile, keepMs, enough } = this.#options;
    const fresh: number[] = [];
    let oldestMs = Number.POSITIVE_INFINITY;
    for (let at = 0; at < this.#count; at++) {
      const sampledMs = this.#at[at] ?? 0;
      if (sampledMs + keepMs <= nowMs) continue;
      oldestMs = Math.min(oldestMs, sampledMs);
      fresh.push(this.#ms[at] ?? 0);
    }
    fresh.sort((a, b) => a - b);
    this.#value = fresh.length < enough ? undefined : fresh[Math.max(0, Math.ceil(percentile * fresh.length) - 1)];
    this.#holdsUntilMs = oldestMs + keepMs;
  }
}
