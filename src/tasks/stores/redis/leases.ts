import type { Json, Maybe } from "../../../envelope/index.js";
import type { Appended, Hold, LeaseRequest, TakenOver } from "../../store.js";
import type { StoredContent } from "../stored-content.js";
import type { RedisConnection } from "./connection.js";
import { type Hint, HintIndex } from "./hints.js";
import { contentOf, type KeyNames, type TaskKeys } from "./keys.js";
import { type RecentTask, RecentTasks } from "./recent-tasks.js";
import { listOf, numberOf, textOf } from "./replies.js";
import { turnMessageFrom } from "./task-fold.js";
import type { TaskScripts } from "./task-scripts.js";
import { appendedFrom } from "./writing.js";

/** Tasks whose owner is remembered; far more than are held at once. */
const REMEMBERED_TASKS = 50_000;
/**
 * While Redis was unavailable no lease could be renewed. For this fraction of a lease nothing is taken over
 * afterwards, so that live holders can renew first.
 */
const HOLDERS_FIRST = 0.5;
/** The mark of a task leased through another store: left to the sweep. */
const NO_MARK = 0;
const CLOSED: Appended = Object.freeze({ ok: false, because: "closed" });

/**
 * Leases of tasks. The lease index says when to check a holder; it is not updated by a
 * renewal: a check that is too early finds the lease valid and moves the hint to its end.
 */
export class TaskLeases {
  readonly #redis: RedisConnection;
  readonly #names: KeyNames;
  readonly #scripts: TaskScripts;
  readonly #content: StoredContent;
  readonly #leases: HintIndex;
  readonly #recent = new RecentTasks(REMEMBERED_TASKS);

  constructor(redis: RedisConnection, names: KeyNames, scripts: TaskScripts, content: StoredContent) {
    this.#content = content;
    this.#redis = redis;
    this.#names = names;
    this.#scripts = scripts;
    this.#leases = new HintIndex(redis, names.leases);
  }

  /** Call before leasing a task: on the same connection, so it is also executed first. */
  announce(keys: TaskKeys, { leaseMs }: LeaseRequest): RecentTask & { readonly done: Promise<unknown> } {
    const { mark, done } = this.#leases.write(keys, this.#redis.nowMs + leaseMs);
    return { keys, mark, done };
  }

  /** The task is held by a user of this store. */
  remember({ keys, mark }: RecentTask): void {
    this.#recent.set(keys.id, { keys, mark });
  }

  /** Searches the lease hints for a task leased through another store. */
  async find(taskId: string): Promise<Maybe<RecentTask>> {
    const recent = this.#recent.get(taskId);
    if (recent !== undefined) return recent;
    const tag = await this.#leases.tagOf(taskId);
    return tag === undefined ? undefined : { keys: this.#names.ofTag(tag, taskId), mark: NO_MARK };
  }

  /** Removes the lease hint. If this is lost, the next sweep removes it. */
  release({ keys, mark }: RecentTask): void {
    this.#leases.settle({ tag: keys.tag, taskId: keys.id, mark }).done.catch(() => undefined);
  }

  /** The lease went to another holder: moves the hint so that the next sweep checks it. */
  checkSoon(keys: TaskKeys): void {
    this.#leases.hasten(keys, this.#redis.nowMs).catch(() => undefined);
  }

  async renew({ taskId, epoch }: Hold, leaseMs: number): Promise<Appended> {
    const task = await this.find(taskId);
    if (task === undefined) return CLOSED;
    const renewed = appendedFrom(await this.#scripts.run("renew", task.keys, [epoch, leaseMs]));
    // Released: another process may take it now.
    if (leaseMs === 0) this.checkSoon(task.keys);
    return renewed;
  }

  async takeOver(lease: LeaseRequest, limit: number): Promise<readonly TakenOver[]> {
    if (this.#redis.backForMs < lease.leaseMs * HOLDERS_FIRST) return [];
    return this.#leases.take(limit, (hint) => this.#take(hint, lease));
  }

  async #take(hint: Hint, { holder, leaseMs }: LeaseRequest): Promise<Maybe<TakenOver>> {
    const keys = this.#names.ofTag(hint.tag, hint.taskId);
    const answer = await this.#scripts.run("takeOver", keys, [holder, leaseMs]);
    const [outcome, untilMs, ...rest] = answer === null ? [] : listOf(answer);
    const { mark, done } = this.#leases.settle(hint, outcome === undefined ? undefined : numberOf(untilMs));
    await done;
    if (outcome !== "taken") return undefined;
    this.remember({ keys, mark });
    const [epoch, owner, agent, contextId, seq, turn, saved, cancel, message] = rest;
    return {
      taskId: hint.taskId,
      epoch: numberOf(epoch),
      owner: textOf(owner),
      agent: textOf(agent),
      contextId: textOf(contextId),
      seq: numberOf(seq),
      turn: numberOf(turn),
      message: turnMessageFrom(this.#content, keys, message),
      state: savedFrom(this.#content, keys, saved),
      cancelRequested: cancel === "1",
    };
  }
}

/** The value an agent saved for its next turn. */
export function savedFrom(content: StoredContent, keys: TaskKeys, saved: unknown): Maybe<Json> {
  const text = textOf(saved);
  return text === "" ? undefined : content.savedFrom(contentOf(keys), text);
}
