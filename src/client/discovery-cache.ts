import type { Finding, Protocol } from "../protocols/protocol.js";

/** What is known about an address: who speaks what there, and since when. */
export interface DiscoveryResult {
  readonly findings: readonly { readonly protocol: Protocol; readonly finding: Finding }[];
  readonly foundAt: number;
}

export interface DiscoveryCacheLimits {
  /** After this time the verdict is confirmed by the card's validator, or found anew. */
  readonly resultMs: number;
  readonly results: number;
}
export const DEFAULT_DISCOVERY_CACHE_LIMITS: DiscoveryCacheLimits = Object.freeze({ resultMs: 300_000, results: 1_000 });

/**
 * Verdicts by address and credentials. A verdict ends with its lifetime, with a version error from the peer, with a card
 * whose validator changed, and does not hold for other credentials: they may see another card.
 */
export class DiscoveryCache {
  readonly #limits: DiscoveryCacheLimits;
  readonly #known = new Map<string, DiscoveryResult>();

  constructor(limits: DiscoveryCacheLimits = DEFAULT_DISCOVERY_CACHE_LIMITS) {
    this.#limits = limits;
  }

  get(key: string, now: number): { readonly verdict: DiscoveryResult; readonly fresh: boolean } | undefined {
    const verdict = this.#known.get(key);
    if (verdict === undefined) return undefined;
    return { verdict, fresh: now - verdict.foundAt < this.#limits.resultMs };
  }

  put(key: string, verdict: DiscoveryResult): void {
    this.#known.delete(key);
    this.#known.set(key, verdict);
    if (this.#known.size <= this.#limits.results) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  end(key: string): void {
    this.#known.delete(key);
  }
}
