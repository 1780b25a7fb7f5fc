import { hash } from "node:crypto";
import { AgentError, type Maybe, type ReplayGuard, type ReplayLimits } from "../../envelope/index.js";

/** Options of `createReplayGuard`. */
export interface ReplayGuardOptions {
  readonly limits: ReplayLimits;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Everything accepted since then is known. Default: now, because a process before this one may have accepted messages. */
  readonly knownSinceMs?: Maybe<number>;
}

/** How long a message without a creation time is refused after a start: longer than any message is valid. */
const QUARANTINE_MS = 360_000;
/** Expired entries removed with every new one: more are removed than added. */
const CLEARED_AT_ONCE = 4;
/** Longer nonces are kept as a digest, so that entries bound the memory. */
const MAX_NONCE_CHARS = 64;

interface Entry {
  readonly signer: string;
  readonly nonce: string;
}

/**
 * A guard in memory, for one process. Entries are grouped by the second in which they end, so that adding and forgetting take the same
 * time however many there are.
 */
export function createReplayGuard(options: ReplayGuardOptions): ReplayGuard {
  return new MemoryReplayGuard(options);
}

class MemoryReplayGuard implements ReplayGuard {
  readonly #limits: ReplayLimits;
  readonly #now: () => number;
  readonly #knownSinceMs: number;
  /** The end of each entry, in seconds. */
  readonly #signers = new Map<string, Map<string, number>>();
  readonly #endingIn = new Map<number, Entry[]>();
  /** The first second that may have entries. */
  #oldest: number;
  #size = 0;

  constructor({ limits, now, knownSinceMs }: ReplayGuardOptions) {
    this.#limits = limits;
    this.#now = now;
    this.#knownSinceMs = knownSinceMs ?? now();
    this.#oldest = secondOf(now());
  }

  seen(signer: string, nonce: string): boolean {
    const end = this.#signers.get(signer)?.get(keptNonce(nonce));
    return end !== undefined && end > secondOf(this.#now());
  }

  add(signer: string, nonce: string, untilMs: number, fromMs?: Maybe<number>): boolean {
    const now = this.#now();
    checkKnown(this.#knownSinceMs, now, fromMs);
    const second = secondOf(now);
    this.#clear(second, CLEARED_AT_ONCE);
    const kept = keptNonce(nonce);
    let nonces = this.#signers.get(signer);
    const before = nonces?.get(kept);
    if (before !== undefined && before > second) return false;
    if (before !== undefined) this.#clear(second, Number.POSITIVE_INFINITY);
    this.#checkRoom(signer, second);
    nonces = this.#signers.get(signer);
    if (nonces === undefined) {
      nonces = new Map();
      this.#signers.set(signer, nonces);
    }
    // One second later than needed: an entry must not end within the second in which it is still valid.
    const end = Math.max(secondOf(untilMs) + 1, second + 1);
    nonces.set(kept, end);
    const group = this.#endingIn.get(end);
    if (group === undefined) this.#endingIn.set(end, [{ signer, nonce: kept }]);
    else group.push({ signer, nonce: kept });
    this.#size++;
    return true;
  }

  #checkRoom(signer: string, second: number): void {
    if (!this.#isFull(signer)) return;
    this.#clear(second, Number.POSITIVE_INFINITY);
    if (this.#isFull(signer)) throw replayGuardFull();
  }

  #isFull(signer: string): boolean {
    const { replayEntries, replayEntriesPerSigner } = this.#limits;
    return this.#size >= replayEntries || (this.#signers.get(signer)?.size ?? 0) >= replayEntriesPerSigner;
  }

  /** Forgets entries that have ended, at most `limit`. */
  #clear(second: number, limit: number): void {
    // After a long silence there are fewer groups than seconds.
    if (second - this.#oldest > this.#endingIn.size) this.#oldest = this.#firstGroup(second);
    let left = limit;
    while (this.#oldest <= second && left > 0) {
      const group = this.#endingIn.get(this.#oldest);
      const entry = group?.pop();
      if (entry === undefined) {
        this.#endingIn.delete(this.#oldest);
        this.#oldest++;
      } else {
        this.#forget(entry);
        left--;
      }
    }
  }

  #firstGroup(second: number): number {
    let first = second + 1;
    for (const end of this.#endingIn.keys()) if (end < first) first = end;
    return first;
  }

  #forget({ signer, nonce }: Entry): void {
    const nonces = this.#signers.get(signer);
    nonces?.delete(nonce);
    if (nonces?.size === 0) this.#signers.delete(signer);
    this.#size--;
  }
}

/** What a process before this one may have accepted is refused: nobody knows whether it was. */
function checkKnown(sinceMs: number, now: number, fromMs: Maybe<number>): void {
  const readyMs = fromMs === undefined ? sinceMs + QUARANTINE_MS - now : sinceMs - fromMs;
  if (readyMs <= 0) return;
  throw new AgentError(
    "unavailable",
    "signed messages from before the start of this server are not accepted; sign and send it again",
    {
      retryAfterMs: readyMs,
    },
  );
}

export function replayGuardFull(): AgentError {
  return new AgentError("overloaded", "too many signed messages at once");
}

function keptNonce(nonce: string): string {
  return nonce.length <= MAX_NONCE_CHARS ? nonce : hash("sha256", nonce, "base64url");
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1_000);
}
