import type { Maybe, Metadata } from "../../../envelope/index.js";

/**
 * The one metadata member of a message in which the envelope's other members ride, under their UTE names. It is written
 * only when a message has something that A2A has no place for.
 */
export const ENVELOPE_KEY = "urn:koine:envelope:1";

/** Metadata without our member, when nothing is left: none. */
export function withoutKey(metadata: Metadata, key: string): Maybe<Metadata> {
  const rest = Object.entries(metadata).filter(([name]) => name !== key);
  // `fromEntries` defines members, it does not assign them: `__proto__` stays a plain name.
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}
