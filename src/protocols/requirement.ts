import type { Maybe } from "../envelope/json.js";
import type { Exchange } from "../transport/exchange.js";

/** The six capabilities of the seed (G.6). */
export const CONFORMANCE_AREAS = ["connectivity", "round-trip", "streaming", "long-running", "security", "edge-cases"] as const;
export type ConformanceArea = (typeof CONFORMANCE_AREAS)[number];

/** A skill with this tag promises the probing commands of our conformance agent. */
export const CONFORMANCE_TAG = "koine-conformance";

/** One request that a webhook of ours got. */
export interface Delivery {
  readonly method: string;
  /** Lower-case names. */
  readonly headers: { readonly [name: string]: Maybe<string> };
  readonly text: string;
}

/** A webhook of ours, for what a server sends by itself. */
export interface Hook {
  readonly url: string;
  /** In the order in which they came. */
  readonly deliveries: readonly Delivery[];
  /** Resolves as soon as what has come is enough. */
  until(isEnough: (deliveries: readonly Delivery[]) => boolean): Promise<void>;
  close(): void;
}

/** What a requirement is checked against: an address, and a way to send bytes there. */
export interface Subject {
  /** The base URL of the endpoint, without a trailing slash. */
  readonly url: string;
  readonly exchange: Exchange;
  /** Headers every request carries, such as credentials. */
  readonly headers: { readonly [name: string]: string };
  newId(): string;
  /** Absent where the subject could not reach one. */
  readonly openHook?: Maybe<() => Promise<Hook>>;
}

/** A requirement that does not apply to this subject, with the reason. */
export interface Skipped {
  readonly skipped: string;
}

/** One duty, as data plus a function. `check` throws when it is not met. */
export interface Requirement {
  /** Stable: `a2a:jsonrpc:version:unknown-is-refused`. */
  readonly id: string;
  readonly capability: ConformanceArea;
  /** `must`: the specification leaves no choice. `should`: a good server does it, and a peer cannot rely on it. */
  readonly level: "must" | "should";
  /** The wire the duty belongs to; absent where it belongs to the endpoint as a whole, such as its card. */
  readonly wire?: Maybe<{ readonly version: string; readonly binding: string }>;
  /** Where the duty comes from: a section of the specification. */
  readonly source: string;
  /** One sentence: what a conforming server does. */
  readonly behaviour: string;
  check(subject: Subject): Promise<void | Skipped>;
}
