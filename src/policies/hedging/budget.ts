/** Size of the burst of second attempts that can be saved up. */
const SAVED_AT_MOST = 10;

export interface HedgeBudgetOptions {
  /** Share of the hedgeable calls, between 0 and 1. */
  readonly share: number;
  /** Concurrent second attempts. */
  readonly maxInFlight: number;
}

/**
 * Limits second attempts to a share of the calls plus a small burst. Without it, a slow peer would get twice the load when
 * it can least bear it.
 */
export class HedgeBudget {
  readonly #options: HedgeBudgetOptions;
  #saved = SAVED_AT_MOST;
  #inFlight = 0;

  constructor(options: HedgeBudgetOptions) {
    this.#options = options;
  }

  /** Counts a call that can be hedged. */
  called(): void {
    this.#saved = Math.min(SAVED_AT_MOST, this.#saved + this.#options.share);
  }

  /** True if a second attempt may start now; `gaveBack` must be called when it ends. */
  take(): boolean {
    const { share, maxInFlight } = this.#options;
    if (share === 0 || this.#saved < 1 || this.#inFlight >= maxInFlight) return false;
    this.#saved -= 1;
    this.#inFlight += 1;
    return true;
  }

  gaveBack(): void {
    this.#inFlight -= 1;
  }
}
