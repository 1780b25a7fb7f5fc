import type { UpClock } from "./clock.js";
import type { UpLimits } from "./limits.js";

const MINUTE_MS = 60_000;
/** Jitter of the backoff, so that processes do not restart in lockstep. */
const JITTER = 0.2;

/** Limits restarts and computes their backoff. */
export class RestartBudget {
  readonly #limits: UpLimits;
  readonly #clock: UpClock;
  #times: number[] = [];
  #consecutive = 0;
  #readySince: number | undefined;

  constructor(limits: UpLimits, clock: UpClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The delay before the next start; undefined if the budget is exhausted. */
  next(): number | undefined {
    const { restartsPerMinute, backoffMs, longestBackoffMs, steadyMs } = this.#limits;
    const now = this.#clock.now();
    if (this.#readySince !== undefined && now - this.#readySince >= steadyMs) this.#consecutive = 0;
    this.#readySince = undefined;
    this.#times = this.#times.filter((at) => now - at < MINUTE_MS);
    if (this.#times.length >= restartsPerMinute) return undefined;
    this.#times.push(now);
    const pauseMs = Math.min(longestBackoffMs, backoffMs * 2 ** this.#consecutive++);
    return pauseMs * (1 - JITTER * this.#clock.random());
  }

  ready(): void {
    this.#readySince = this.#clock.now();
  }

  /** Resets the budget after a manual restart. */
  reset(): void {
    this.#times = [];
    this.#consecutive = 0;
  }

  /** Why it is not restarted. */
  get reason(): string {
    return `gave up after ${this.#limits.restartsPerMinute} restarts within a minute`;
  }
}
