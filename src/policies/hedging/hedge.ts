import type { Layer, Maybe } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import type { PolicySink } from "../notes.js";
import { type HedgeRules, Hedging } from "./pair.js";

export interface HedgeOptions extends HedgeRules {
  /** In notes. */
  readonly destination: string;
  readonly protocol?: Maybe<string>;
  /** The peer starts nothing twice for one key. Asked per call: cards change. */
  idempotentSend?(): boolean;
  readonly clock: Clock;
  readonly notes?: Maybe<PolicySink>;
}

/**
 * A second attempt at the same destination beside one that is late. Whichever delivers an event first is the answer, from
 * its first event to its last: events of the two are never mixed. Only where saying it twice can do no harm: what changes
 * nothing, and a message with a key to a peer that starts one key once. The loser is hung up on, and a task that it made
 * is cancelled. For a second attempt at another destination see `loadBalancer`.
 */
export function hedge(options: HedgeOptions): Layer {
  const { destination, protocol } = options;
  const hedging = new Hedging(options, options.clock, options.notes);
  return (next) => (operation, call) => {
    const idempotentSend = options.idempotentSend?.() ?? false;
    return hedging.reply({ first: next, second: next, canceller: next, idempotentSend, destination, protocol }, operation, call);
  };
}
