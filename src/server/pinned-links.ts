import type { PinnedUrl } from "../security/index.js";
import { pinnedLookup } from "../security/index.js";
import type { Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { type PoolOptions, poolLink } from "../transport/node/index.js";

/** Responses to requests that a server sends on its own are read up to this size. */
const ANSWER_BYTES = 64 * 1024;

/** Links that dial checked addresses only. A name with new addresses gets a new link, so no old socket is used. */
export class PinnedLinks {
  readonly #max: number;
  readonly #tls: PoolOptions["tls"];
  readonly #links = new Map<string, Link>();

  constructor(max: number, tls: PoolOptions["tls"]) {
    this.#max = max;
    this.#tls = tls;
  }

  to(target: PinnedUrl): Link {
    const key = `${new URL(target.url).origin} ${target.addresses.map(({ address }) => address).join(" ")}`;
    const link = this.#links.get(key) ?? this.#open(target);
    // Moved to the end: the first entry is the least recently used.
    this.#links.delete(key);
    this.#links.set(key, link);
    for (const [oldKey, old] of this.#links) {
      if (this.#links.size <= this.#max) break;
      this.#links.delete(oldKey);
      void old.close();
    }
    return link;
  }

  async close(): Promise<void> {
    const links = [...this.#links.values()];
    this.#links.clear();
    await Promise.all(links.map((link) => link.close()));
  }

  #open(target: PinnedUrl): Link {
    const limits = { ...DEFAULT_LIMITS, bodyBytes: ANSWER_BYTES };
    return poolLink({ limits, lookup: pinnedLookup(target), tls: this.#tls });
  }
}
