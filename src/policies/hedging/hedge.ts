import type { Layer, Maybe } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import type { PolicySink } from "../notes.js";
import { type HedgeRules, Hedging } from "./pair.js";

/** Options of `hedge`. */
export interface HedgeOptions extends HedgeRules {
  /** The configured name of the destination, for notes. */
  readonly destination: string;
  /** The protocol of the destination, for notes. */
  readonly protocol?: Maybe<string>;
  /** Whether the peer deduplicates sends by idempotency key. Called per call, because cards change. */
  idempotentSend?(): boolean;
  /** The time source. */
  readonly clock: Clock;
  /** Receives notes. Default: none. */
  readonly notes?: Maybe<PolicySink>;
}

/**
 * Starts a second attempt at the same destination when the first is late. The attempt that delivers an event first provides
 * the whole answer; events of the two are never mixed. Applies only where a repeat is safe: read-only operations, and
 * messages with a key to a peer that deduplicates by key. The loser is cancelled, and so is a task it created. For a second
 * attempt at another destination see `loadBalancer`.
 */
export function hedge(options: HedgeOptions): Layer {
  const { destination, protocol } = options;
  const hedging = new Hedging(options, options.clock, options.notes);
  return (next) => (operation, call) => {
    const idempotentSend = options.idempotentSend?.() ?? false;
    return hedging.reply({ first: next, second: next, canceller: next, idempotentSend, destination, protocol }, operation, call);
  };
}
