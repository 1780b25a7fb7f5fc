/** Second attempts that may be saved up while none are needed. */
const SAVED_AT_MOST = 10;

export interface HedgeBudgetOptions {
  /** Of all calls that could be hedged, between 0 and 1. */
  readonly share: number;
  /** Second attempts under way at one time. */
  readonly maxInFlight: number;
}

/**
 * How often a second attempt is allowed. When everything is slow every call wants one, and the load doubles when it can
 * be borne least; so there are never more than the share of the calls, and a few that were saved up.
 */
export class HedgeBudget {
  readonly #options: HedgeBudgetOptions;
  #saved = SAVED_AT_MOST;
  #inFlight = 0;

  constructor(options: HedgeBudgetOptions) {
    this.#options = options;
  }

  /** A call came that could be hedged. */
  called(): void {
    this.#saved = Math.min(SAVED_AT_MOST, this.#saved + this.#options.share);
  }

  /** True: a second attempt may start now. Then `gaveBack` is owed once it is over. */
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
