import type { Awaitable, Maybe } from "./json.js";

/** Remembers the nonces of signed messages, so that each message is accepted once. */
export interface ReplayGuard {
  /** A hint, before the body is read: true only if the nonce was seen. */
  seen(signer: string, nonce: string): boolean;
  /**
   * Stores the nonce until `untilMs` in one atomic step; false if it was seen before. Throws `overloaded` when full, and `unavailable`
   * while it cannot know what was seen before a restart.
   *
   * `fromMs`: the earliest time at which the message would have been accepted, which is its creation less the clock skew. A guard that
   * lost its memory accepts only messages from after its start. Without `fromMs` it accepts none for six minutes.
   */
  add(signer: string, nonce: string, untilMs: number, fromMs?: Maybe<number>): Awaitable<boolean>;
}

/** Limits of a replay guard. A full one refuses; nothing that is still valid is forgotten. */
export interface ReplayLimits {
  readonly replayEntries: number;
  readonly replayEntriesPerSigner: number;
}
