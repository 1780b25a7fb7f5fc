import { AgentError, ANONYMOUS, type Maybe, subjectOf } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";

/** Where nothing else is configured: many gateways have one caller, and few upstreams count by caller. */
const CALLS_PER_CALLER = 10_000;
/** How long a call counts whose work may continue at the upstream, because nobody knows its task id there. */
const UNKNOWN_MS = 600_000;
/** They take up at most this part of the caller's share: a caller that lost its connections can go on. */
const UNKNOWN_PART = 0.5;
/** After this many of them the next calls are sent so that the task id is known early, and the task is followed to its end. */
const UNKNOWN_CALLS = 8;
/** Callers with such calls; the oldest are forgotten. */
const REMEMBERED_CALLERS = 10_000;
const RETRY_AFTER_MS = 1_000;

/** What the gateway knows of the work at the upstream when a call is over. */
export type WorkEnd = "ended" | "unknown";

interface CallerShare {
  calls: number;
  /** When each call with an unknown end stops counting, oldest first. */
  readonly unknown: number[];
}

/**
 * The calls of each caller to one upstream, over all its tenants. The upstream counts them all as the gateway's: without a share for each,
 * one caller uses up what the upstream allows the gateway. Anonymous callers cannot be told apart, and have no shares.
 */
export class UpstreamShares {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #callers = new Map<string, CallerShare>();

  constructor(clock: Clock, most: number = CALLS_PER_CALLER) {
    this.#most = most;
    this.#clock = clock;
  }

  /** `overloaded` if the caller's share is in use. */
  refusal(owner: string): Maybe<AgentError> {
    const share = this.#callers.get(subjectOf(owner));
    if (share === undefined) return undefined;
    const unknown = Math.min(this.#unknownOf(share), Math.floor(this.#most * UNKNOWN_PART));
    if (share.calls + unknown < this.#most) return undefined;
    return new AgentError("overloaded", "too many calls of this caller to the upstream agent", {
      sent: "no",
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  /** Counts a call. The returned function ends it. */
  enter(owner: string): (end: WorkEnd) => void {
    const subject = subjectOf(owner);
    if (subject === ANONYMOUS.owner) return () => undefined;
    const share = this.#callers.get(subject) ?? { calls: 0, unknown: [] };
    this.#callers.set(subject, share);
    share.calls++;
    return (end) => {
      share.calls--;
      if (end === "unknown") share.unknown.push(this.#clock.now() + UNKNOWN_MS);
      if (share.calls === 0) this.#rest(subject, share);
    };
  }

  /** The caller leaves work behind. */
  leavesWork(owner: string): boolean {
    const share = this.#callers.get(subjectOf(owner));
    return share !== undefined && this.#unknownOf(share) >= UNKNOWN_CALLS;
  }

  #unknownOf({ unknown }: CallerShare): number {
    if (unknown.length === 0) return 0;
    const now = this.#clock.now();
    while (unknown[0] !== undefined && unknown[0] <= now) unknown.shift();
    return unknown.length;
  }

  /** A caller without a call is kept, as the newest, only for what it left behind. */
  #rest(subject: string, share: CallerShare): void {
    this.#callers.delete(subject);
    if (this.#unknownOf(share) === 0) return;
    this.#callers.set(subject, share);
    if (this.#callers.size <= REMEMBERED_CALLERS) return;
    for (const [oldest, { calls }] of this.#callers) if (calls === 0) return void this.#callers.delete(oldest);
  }
}
