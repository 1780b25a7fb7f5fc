import type { Created, IdempotencyKey } from "../store.js";

interface KeptKey {
  readonly owner: string;
  readonly name: string;
  readonly digest: string;
  readonly taskId: string;
  readonly untilMs: number;
  /** The next key; keys expire in the order they were added. */
  next: KeptKey | undefined;
}

/** Limits of idempotency keys. */
export interface KeyLimits {
  readonly idempotencyKeys: number;
  readonly idempotencyKeysPerOwner: number;
}

/** Idempotency keys by owner and agent. A full index rejects new keys: dropping a key early would break deduplication. */
export class KeyIndex {
  readonly #byOwner = new Map<string, Map<string, KeptKey>>();
  readonly #limits: KeyLimits;
  #oldest: KeptKey | undefined;
  #newest: KeptKey | undefined;
  #count = 0;

  constructor(limits: KeyLimits) {
    this.#limits = limits;
  }

  /** Looks up a key: undefined if it is new. */
  check(owner: string, agent: string, key: IdempotencyKey, nowMs: number): { taskId: string; same: boolean } | undefined {
    this.#expire(nowMs);
    const kept = this.#byOwner.get(owner)?.get(nameOf(agent, key.key));
    if (kept === undefined || kept.untilMs <= nowMs) return undefined;
    return { taskId: kept.taskId, same: kept.digest === key.digest };
  }

  isFull(owner: string): boolean {
    const own = this.#byOwner.get(owner)?.size ?? 0;
    return this.#count >= this.#limits.idempotencyKeys || own >= this.#limits.idempotencyKeysPerOwner;
  }

  keep(owner: string, agent: string, key: IdempotencyKey, use: { readonly taskId: string; readonly nowMs: number }): void {
    const { taskId, nowMs } = use;
    const name = nameOf(agent, key.key);
    const kept: KeptKey = { owner, name, digest: key.digest, taskId, untilMs: nowMs + key.keepMs, next: undefined };
    let own = this.#byOwner.get(owner);
    if (own === undefined) {
      own = new Map();
      this.#byOwner.set(owner, own);
    }
    if (!own.has(name)) this.#count += 1;
    own.set(name, kept);
    if (this.#newest !== undefined) this.#newest.next = kept;
    else this.#oldest = kept;
    this.#newest = kept;
  }

  #expire(nowMs: number): void {
    for (let kept = this.#oldest; kept !== undefined && kept.untilMs <= nowMs; kept = this.#oldest) {
      this.#oldest = kept.next;
      if (this.#oldest === undefined) this.#newest = undefined;
      this.#forget(kept);
    }
  }

  #forget(kept: KeptKey): void {
    const own = this.#byOwner.get(kept.owner);
    // A newer use of the same key may have replaced it.
    if (own?.get(kept.name) !== kept) return;
    own.delete(kept.name);
    this.#count -= 1;
    if (own.size === 0) this.#byOwner.delete(kept.owner);
  }
}

/** The result of a create with a known key. */
export function answerFor(known: { readonly taskId: string; readonly same: boolean }, taskIsKept: boolean): Created {
  if (!known.same) return { made: false, because: "conflict" };
  return taskIsKept ? { made: false, because: "repeated", taskId: known.taskId } : { made: false, because: "expired" };
}

function nameOf(agent: string, key: string): string {
  return `${agent.length}:${agent}${key}`;
}
