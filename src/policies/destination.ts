import type { Handler, Maybe } from "../envelope/index.js";

/** A destination of messages: an agent, a replica, or the same agent over another protocol. */
export interface Destination {
  /** Configured, never taken from the wire: it is a metric label. */
  readonly id: string;
  /** The client of the destination. */
  readonly handler: Handler;
  /** The protocol of the destination, for notes. */
  readonly protocol?: Maybe<string>;
  /** Relative share of the messages; 0 is used only if no other destination is left. Default: 1. */
  readonly weight?: Maybe<number>;
  /** A message with tags goes only to destinations that have all of them. */
  readonly tags?: Maybe<readonly string[]>;
  /** A message whose intent names a skill goes only to destinations with that skill. */
  readonly skills?: Maybe<readonly string[]>;
  /** True if the destination deduplicates sends by idempotency key. Called per call: cards change. */
  idempotentSend?(): boolean;
}
