import type { Finding, Protocol } from "../protocols/protocol.js";

/** What is known about an address: who speaks what there, and since when. */
export interface Verdict {
  readonly findings: readonly { readonly protocol: Protocol; readonly finding: Finding }[];
  readonly foundAt: number;
}

export interface VerdictLimits {
  /** After this time the verdict is confirmed by the card's validator, or found anew. */
  readonly verdictMs: number;
  readonly verdicts: number;
}
export const DEFAULT_VERDICT_LIMITS: VerdictLimits = Object.freeze({ verdictMs: 300_000, verdicts: 1_000 });

/**
 * Verdicts by address and credentials. A verdict ends with its lifetime, with a version error from the peer, with a card
 * whose validator changed, and does not hold for other credentials: they may see another card.
 */
export class Verdicts {
  readonly #limits: VerdictLimits;
  readonly #known = new Map<string, Verdict>();

  constructor(limits: VerdictLimits = DEFAULT_VERDICT_LIMITS) {
    this.#limits = limits;
  }

  get(key: string, now: number): { readonly verdict: Verdict; readonly fresh: boolean } | undefined {
    const verdict = this.#known.get(key);
    if (verdict === undefined) return undefined;
    return { verdict, fresh: now - verdict.foundAt < this.#limits.verdictMs };
  }

  put(key: string, verdict: Verdict): void {
    this.#known.delete(key);
    this.#known.set(key, verdict);
    if (this.#known.size <= this.#limits.verdicts) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  end(key: string): void {
    this.#known.delete(key);
  }
}
