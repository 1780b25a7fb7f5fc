import { setTimeout as pause } from "node:timers/promises";
import type { Attempt } from "./client.js";

/** An attempt of a request, and the agent that was asked. */
export interface AskedAttempt {
  readonly last: Attempt;
  readonly agent: string;
}

/**
 * The attempts of one request. One that takes too long is not waited for, and heard out: its answer may still come, before that of the next
 * attempt or after it. Their number is that of the retries.
 */
export class OpenAttempts {
  readonly #late: Promise<AskedAttempt>[] = [];

  /** The attempt that ends first: this one, or a late one with an answer. Undefined: none did within the time. */
  async next(attempt: Promise<AskedAttempt>, withinMs: number | undefined): Promise<AskedAttempt | undefined> {
    if (withinMs === undefined) return attempt;
    const waiting = new AbortController();
    const overdue = pause(withinMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    let own: AskedAttempt | undefined;
    const noticed = attempt.then((ended) => {
      own = ended;
      return ended;
    });
    try {
      const ended = await Promise.race([noticed, ...this.#late.map(answered), overdue]);
      if (ended === undefined || ended !== own) this.#late.push(attempt);
      return ended;
    } finally {
      waiting.abort();
    }
  }

  /** Calls back with every answer that arrives after the one that was taken. Resolves when all attempts have ended. */
  async afterwards(taken: AskedAttempt | undefined, hear: (attempt: AskedAttempt) => void): Promise<void> {
    const hearing = this.#late.map(async (attempt) => {
      const ended = await attempt;
      if (ended !== taken && ended.last.error === undefined) hear(ended);
    });
    await Promise.allSettled(hearing);
  }
}

/** Never settles for an attempt without an answer. */
function answered(attempt: Promise<AskedAttempt>): Promise<AskedAttempt> {
  return new Promise((resolve) => {
    void attempt.then(
      (ended) => {
        if (ended.last.error === undefined) resolve(ended);
      },
      () => undefined,
    );
  });
}
