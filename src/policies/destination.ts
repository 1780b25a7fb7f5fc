import type { Handler, Maybe } from "../envelope/index.js";

/** One place a message can go: an agent, a replica of one, the same agent by another protocol. */
export interface Destination {
  /** Configured, never taken from the wire: it is a metric label. */
  readonly id: string;
  readonly handler: Handler;
  readonly protocol?: Maybe<string>;
  /** Share of the messages relative to the others; 0 takes none unless nobody else is left. Default: 1. */
  readonly weight?: Maybe<number>;
  /** A message with tags goes only where all of them are known. */
  readonly tags?: Maybe<readonly string[]>;
  /** A message whose intent is one of somebody's skills goes only to those who have it. */
  readonly skills?: Maybe<readonly string[]>;
  /** A send with an idempotency key may be said to it twice. Asked per call: cards change. */
  idempotentSend?(): boolean;
}
