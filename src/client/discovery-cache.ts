import type { Finding, Protocol } from "../protocols/protocol.js";

/** What discovery found at an address, and when. */
export interface DiscoveryResult {
  readonly findings: readonly { readonly protocol: Protocol; readonly finding: Finding }[];
  readonly foundAt: number;
}

/** Limits of a `DiscoveryCache`. */
export interface DiscoveryCacheLimits {
  /** After this time a result is revalidated by the card's ETag, or discovered again. */
  readonly resultMs: number;
  readonly results: number;
}
/** Five minutes, and a thousand results. */
export const DEFAULT_DISCOVERY_CACHE_LIMITS: DiscoveryCacheLimits = Object.freeze({ resultMs: 300_000, results: 1_000 });

/**
 * Discovery results by address and credentials. A result expires with its lifetime, with a version error from the peer and
 * with a changed card. It is not used for other credentials: they may see another card.
 */
export class DiscoveryCache {
  readonly #limits: DiscoveryCacheLimits;
  readonly #results = new Map<string, DiscoveryResult>();

  constructor(limits: DiscoveryCacheLimits = DEFAULT_DISCOVERY_CACHE_LIMITS) {
    this.#limits = limits;
  }

  get(key: string, now: number): { readonly result: DiscoveryResult; readonly fresh: boolean } | undefined {
    const result = this.#results.get(key);
    if (result === undefined) return undefined;
    return { result, fresh: now - result.foundAt < this.#limits.resultMs };
  }

  put(key: string, result: DiscoveryResult): void {
    this.#results.delete(key);
    this.#results.set(key, result);
    if (this.#results.size <= this.#limits.results) return;
    const [oldest] = this.#results.keys();
    if (oldest !== undefined) this.#results.delete(oldest);
  }

  delete(key: string): void {
    this.#results.delete(key);
  }
}
