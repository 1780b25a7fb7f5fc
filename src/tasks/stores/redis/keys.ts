import { createHash } from "node:crypto";
import type { IdempotencyKey } from "../../store.js";

/** The keys of one task and of its owner's indexes, in the order the scripts know them by. */
export interface TaskKeys {
  readonly id: string;
  readonly tag: string;
  readonly all: readonly string[];
}

const TAG_LENGTH = 22;
const KNOWN_OWNERS = 1_000;

/**
 * Names of keys. All keys of one owner share a hash tag, a digest of the owner, so that each operation is one script on one
 * node of a cluster. Tasks of two owners never share a key: an owner cannot name another owner's task.
 */
export class KeyNames {
  readonly leases: string;
  readonly duePushes: string;
  /** The keys of records: values by name, ordered names, expiry times, and total bytes. */
  readonly records: readonly string[];
  /** The keys of nonces: by their end, and by signer. */
  readonly replays: readonly string[];
  readonly #prefix: string;
  readonly #tags = new Map<string, string>();

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.leases = `${prefix}:leases`;
    this.duePushes = `${prefix}:due`;
    this.records = ["values", "names", "ends", "bytes"].map((kind) => `${prefix}:{records}:${kind}`);
    this.replays = ["ends", "signers"].map((kind) => `${prefix}:{replays}:${kind}`);
  }

  ofTask(owner: string, id: string): TaskKeys {
    return this.ofTag(this.tagOf(owner), id);
  }

  ofTag(tag: string, id: string): TaskKeys {
    const own = `${this.#prefix}:{${tag}}`;
    const task = [`${own}:t:${id}`, `${own}:j:${id}`, `${own}:h:${id}`, `${own}:p:${id}`, `${own}:s:${id}`];
    return { id, tag, all: [...task, ...this.indexes(tag)] };
  }

  /** The indexes of one owner: tasks by time, idle tasks, and the columns of filters. */
  indexes(tag: string): readonly string[] {
    const own = `${this.#prefix}:{${tag}}`;
    return [`${own}:tasks`, `${own}:idle`, `${own}:rows`];
  }

  /** Of one idempotency key, and of the list of them. */
  ofKey(tag: string, agent: string, { key }: IdempotencyKey): readonly string[] {
    const own = `${this.#prefix}:{${tag}}`;
    return [`${own}:k:${agent.length}:${agent}${key}`, `${own}:keys`];
  }

  wakeChannel(taskId: string): string {
    return `${this.#prefix}:w:${taskId}`;
  }

  holderChannel(holder: string): string {
    return `${this.#prefix}:h:${holder}`;
  }

  tagOf(owner: string): string {
    const known = this.#tags.get(owner);
    if (known !== undefined) return known;
    const tag = createHash("sha256").update(owner).digest("base64url").slice(0, TAG_LENGTH);
    if (this.#tags.size >= KNOWN_OWNERS) this.#tags.clear();
    this.#tags.set(owner, tag);
    return tag;
  }
}
