import type { UpClock } from "./clock.js";
import type { UpLimits } from "./limits.js";

const MINUTE_MS = 60_000;
/** How much of a pause is left to chance, so that what died together does not come back together. */
const JITTER = 0.2;

/** How often a process may come back, and how long it waits each time. */
export class RestartBudget {
  readonly #limits: UpLimits;
  readonly #clock: UpClock;
  #times: number[] = [];
  #inARow = 0;
  #readySince: number | undefined;

  constructor(limits: UpLimits, clock: UpClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The pause before the next start; undefined where there were too many. */
  next(): number | undefined {
    const { restartsPerMinute, backoffMs, longestBackoffMs, steadyMs } = this.#limits;
    const now = this.#clock.now();
    if (this.#readySince !== undefined && now - this.#readySince >= steadyMs) this.#inARow = 0;
    this.#readySince = undefined;
    this.#times = this.#times.filter((at) => now - at < MINUTE_MS);
    if (this.#times.length >= restartsPerMinute) return undefined;
    this.#times.push(now);
    const pauseMs = Math.min(longestBackoffMs, backoffMs * 2 ** this.#inARow++);
    return pauseMs * (1 - JITTER * this.#clock.random());
  }

  ready(): void {
    this.#readySince = this.#clock.now();
  }

  /** Somebody looked at it: everything begins anew. */
  forgive(): void {
    this.#times = [];
    this.#inARow = 0;
  }

  /** Why it is not started again. */
  get words(): string {
    return `it was restarted ${this.#limits.restartsPerMinute} times within a minute and is left alone`;
  }
}
