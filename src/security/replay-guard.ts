import type { Awaitable } from "../envelope/index.js";

/** Remembers the nonces of signed messages, so that each message is accepted once. */
export interface ReplayGuard {
  /** A hint, before the body is read: true only if the nonce was seen. */
  seen(signer: string, nonce: string): boolean;
  /**
   * Stores the nonce until `untilMs` in one atomic step; false if it was seen before. Throws `overloaded` when full, and `unavailable`
   * while it cannot know what was seen before a restart.
   */
  add(signer: string, nonce: string, untilMs: number): Awaitable<boolean>;
}
