/** Half-life of the smoothed rate. */
const HALF_LIFE_MS = 1_500;

interface Reading {
  readonly messages: number;
  readonly failures: number;
  readonly at: number;
  readonly perSecond: number;
}

/** Rates from periodically read counters. */
export class RateMeter {
  readonly #readings = new Map<string, Reading>();

  /** The increase since the last reading and the smoothed rate per second. The first reading is the baseline. */
  take(key: string, messages: number, failures: number, now: number): Reading {
    const before = this.#readings.get(key);
    const elapsed = before === undefined ? 0 : now - before.at;
    // A counter that decreased was reset by a restart.
    const increase = before === undefined || messages < before.messages ? 0 : messages - before.messages;
    const kept = 0.5 ** (elapsed / HALF_LIFE_MS);
    const perSecond =
      before === undefined || elapsed === 0
        ? (before?.perSecond ?? 0)
        : before.perSecond * kept + ((increase * 1000) / elapsed) * (1 - kept);
    this.#readings.set(key, { messages, failures, at: now, perSecond });
    const failed = before === undefined ? 0 : Math.max(0, failures - before.failures);
    return { messages: increase, failures: failed, at: now, perSecond };
  }
}
