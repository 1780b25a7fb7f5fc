import type { Link } from "../transport/exchange.js";
import type { KeysAt } from "./card-signature-check.js";
import { DEFAULT_KEY_LIMITS, remoteKeys } from "./jwt-keys.js";

/** The key sets at these addresses and no others, fetched when a card names one, bounded, and kept for a while. */
export function publishedKeys(urls: readonly string[], link: Link, now: () => number): KeysAt {
  const sources = new Map(urls.map((url) => [url, remoteKeys({ url, link, now, limits: DEFAULT_KEY_LIMITS })]));
  return async (jku) => (await sources.get(jku)?.current())?.keys ?? [];
}
