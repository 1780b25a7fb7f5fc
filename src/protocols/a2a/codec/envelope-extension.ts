import type { Maybe, Metadata } from "../../../envelope/index.js";

/**
 * The metadata member of a message that carries the other envelope members, under their UTE names. Written only if a message has
 * members that A2A lacks.
 */
export const ENVELOPE_KEY = "urn:koine:envelope:1";

/** The metadata without the Koine member; undefined if nothing else is left. */
export function withoutKey(metadata: Metadata, key: string): Maybe<Metadata> {
  const rest = Object.entries(metadata).filter(([name]) => name !== key);
  // `fromEntries` defines members, it does not assign them: `__proto__` stays a plain name.
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}
