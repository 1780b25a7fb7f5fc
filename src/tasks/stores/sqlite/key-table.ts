import type { Maybe } from "../../../envelope/index.js";
import type { IdempotencyKey, NewTask } from "../../store.js";
import type { KeyLimits } from "../key-index.js";
import { columnText, nameFrom } from "./column-text.js";
import type { Connection, Statement } from "./library.js";
import type { Totals } from "./totals.js";

/** Expired keys are removed a few at a time, and more of them when the table is full. */
const CLEARED_AT_ONCE = 4;
const CLEARED_WHEN_FULL = 256;

/** Idempotency keys by owner and agent, with their own expiry, independent of the task. A full table rejects new keys. */
export class KeyTable {
  readonly #totals: Totals;
  readonly #limits: KeyLimits;
  readonly #select: Statement<readonly [string, string, number]>;
  readonly #insert: Statement<readonly []>;
  readonly #delete: Statement<readonly []>;
  readonly #ended: Statement<readonly [string, string, string]>;
  readonly #count: Statement<readonly []>;
  readonly #owned: Statement<readonly [number]>;
  readonly #forgetOwner: Statement<readonly []>;

  constructor(connection: Connection, totals: Totals, limits: KeyLimits) {
    this.#totals = totals;
    this.#limits = limits;
    this.#select = connection.prepare("SELECT digest, task_id, until FROM keys WHERE owner = ? AND agent = ? AND key = ?");
    this.#insert = connection.prepare("INSERT INTO keys (owner, agent, key, digest, task_id, until) VALUES (?, ?, ?, ?, ?, ?)");
    this.#delete = connection.prepare("DELETE FROM keys WHERE owner = ? AND agent = ? AND key = ?");
    this.#ended = connection.prepare("SELECT owner, agent, key FROM keys WHERE until <= ? ORDER BY until LIMIT ?");
    this.#count = connection.prepare(
      "INSERT INTO key_owners (owner, kept) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET kept = kept + ?2",
    );
    this.#owned = connection.prepare("SELECT kept FROM key_owners WHERE owner = ?");
    this.#forgetOwner = connection.prepare("DELETE FROM key_owners WHERE owner = ? AND kept <= 0");
  }

  /** Looks up a key: undefined if it is new. */
  check(
    { owner, agent }: NewTask,
    key: IdempotencyKey,
    nowMs: number,
  ): Maybe<{ readonly taskId: string; readonly same: boolean }> {
    const named = [columnText(owner), columnText(agent), columnText(key.key)] as const;
    const kept = this.#select.get(named);
    if (kept === undefined) return undefined;
    const [digest, taskId, until] = kept;
    if (until > nowMs) return { taskId: nameFrom(taskId), same: digest === columnText(key.digest) };
    this.#forget(named);
    return undefined;
  }

  isFull(owner: string, nowMs: number): boolean {
    this.#clear(nowMs, CLEARED_AT_ONCE);
    if (!this.#isFull(owner)) return false;
    this.#clear(nowMs, CLEARED_WHEN_FULL);
    return this.#isFull(owner);
  }

  keep({ owner, agent, task }: NewTask, key: IdempotencyKey, nowMs: number): void {
    const named = [columnText(owner), columnText(agent), columnText(key.key)] as const;
    this.#insert.run([...named, columnText(key.digest), columnText(task.id), nowMs + key.keepMs]);
    this.#count.run([named[0], 1]);
    this.#totals.add({ keys: 1 });
  }

  #isFull(owner: string): boolean {
    const { idempotencyKeys, idempotencyKeysPerOwner } = this.#limits;
    const [owned] = this.#owned.get([columnText(owner)]) ?? [0];
    return this.#totals.keys >= idempotencyKeys || owned >= idempotencyKeysPerOwner;
  }

  #clear(nowMs: number, limit: number): void {
    for (const named of this.#ended.intact([nowMs, limit])) this.#forget(named);
  }

  #forget(named: readonly [owner: string, agent: string, key: string]): void {
    this.#delete.run(named);
    this.#count.run([named[0], -1]);
    this.#forgetOwner.run([named[0]]);
    this.#totals.add({ keys: -1 });
  }
}
