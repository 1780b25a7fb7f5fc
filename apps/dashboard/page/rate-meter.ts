/** How fast an old rate is forgotten. */
const HALF_LIFE_MS = 1_500;

interface Reading {
  readonly messages: number;
  readonly failures: number;
  readonly at: number;
  readonly perSecond: number;
}

/** Rates from counters that are read now and then. */
export class RateMeter {
  readonly #readings = new Map<string, Reading>();

  /** What came since the last reading, and how much that is per second, smoothed. The first reading only sets the mark. */
  take(key: string, messages: number, failures: number, now: number): Reading {
    const before = this.#readings.get(key);
    const elapsed = before === undefined ? 0 : now - before.at;
    // A counter that fell was begun anew: its process was.
    const news = before === undefined || messages < before.messages ? 0 : messages - before.messages;
    const kept = 0.5 ** (elapsed / HALF_LIFE_MS);
    const perSecond =
      before === undefined || elapsed === 0
        ? (before?.perSecond ?? 0)
        : before.perSecond * kept + ((news * 1000) / elapsed) * (1 - kept);
    this.#readings.set(key, { messages, failures, at: now, perSecond });
    const failed = before === undefined ? 0 : Math.max(0, failures - before.failures);
    return { messages: news, failures: failed, at: now, perSecond };
  }
}
