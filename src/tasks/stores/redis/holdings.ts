import type { Json, Maybe } from "../../../envelope/index.js";
import type { Appended, Hold, LeaseRequest, TakenOver } from "../../store.js";
import { listOf, numberOf, textOf } from "./answers.js";
import type { RedisConnection } from "./connection.js";
import { type Hint, HintIndex } from "./hints.js";
import type { KeyNames, TaskKeys } from "./keys.js";
import { type RecentTask, RecentTasks } from "./recent-tasks.js";
import { turnMessageFrom } from "./task-material.js";
import type { TaskScripts } from "./task-scripts.js";
import { appendedFrom } from "./writing.js";

/** Tasks whose owner is remembered for their holder; those that are held are far fewer. */
const REMEMBERED_TASKS = 50_000;
/**
 * While Redis was away nobody could renew, and every lease may have run out. For this part of a lease nothing is taken over
 * after that: holders that are well get their connection back too, and come first.
 */
const HOLDERS_FIRST = 0.5;
/** The hint of a task that this store did not put into hands: left to the sweep. */
const NO_MARK = 0;
const CLOSED: Appended = Object.freeze({ ok: false, because: "closed" });

/**
 * Tasks in somebody's hands. The index of leases says when to look whether a holder is still there; it is not touched by a
 * renewal: who looks too early finds the lease running and moves the hint to its end.
 */
export class Holdings {
  readonly #redis: RedisConnection;
  readonly #names: KeyNames;
  readonly #scripts: TaskScripts;
  readonly #leases: HintIndex;
  readonly #recent = new RecentTasks(REMEMBERED_TASKS);

  constructor(redis: RedisConnection, names: KeyNames, scripts: TaskScripts) {
    this.#redis = redis;
    this.#names = names;
    this.#scripts = scripts;
    this.#leases = new HintIndex(redis, names.leases);
  }

  /** To be said before a task is put into hands: on the same connection, so it is also done before. */
  announce(keys: TaskKeys, { leaseMs }: LeaseRequest): RecentTask & { readonly done: Promise<unknown> } {
    const { mark, done } = this.#leases.write(keys, this.#redis.nowMs + leaseMs);
    return { keys, mark, done };
  }

  /** It is in the hands of somebody who uses this store. */
  keep({ keys, mark }: RecentTask): void {
    this.#recent.set(keys.id, { keys, mark });
  }

  /** A task that was put into hands elsewhere is looked for: whoever holds it has a lease hint. */
  async find(taskId: string): Promise<Maybe<RecentTask>> {
    const recent = this.#recent.get(taskId);
    if (recent !== undefined) return recent;
    const tag = await this.#leases.tagOf(taskId);
    return tag === undefined ? undefined : { keys: this.#names.ofTag(tag, taskId), mark: NO_MARK };
  }

  /** Nobody has to look for its holder any more. If this is lost, the next sweep finds the hint and removes it. */
  letGo({ keys, mark }: RecentTask): void {
    this.#leases.settle({ tag: keys.tag, taskId: keys.id, mark }).done.catch(() => undefined);
  }

  /** It was announced, and is in other hands: its hint has been moved and must not keep a sweep from looking. */
  lookNow(keys: TaskKeys): void {
    this.#leases.hasten(keys, this.#redis.nowMs).catch(() => undefined);
  }

  async renew({ taskId, epoch }: Hold, leaseMs: number): Promise<Appended> {
    const task = await this.find(taskId);
    if (task === undefined) return CLOSED;
    const renewed = appendedFrom(await this.#scripts.run("renew", task.keys, [epoch, leaseMs]));
    // Given back: somebody else may have it now.
    if (leaseMs === 0) this.lookNow(task.keys);
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
    this.keep({ keys, mark });
    const [epoch, owner, agent, contextId, seq, turn, saved, cancel, message] = rest;
    return {
      taskId: hint.taskId,
      epoch: numberOf(epoch),
      owner: textOf(owner),
      agent: textOf(agent),
      contextId: textOf(contextId),
      seq: numberOf(seq),
      turn: numberOf(turn),
      message: turnMessageFrom(message),
      state: savedFrom(saved),
      cancelRequested: cancel === "1",
    };
  }
}

/** The value an agent saved for its next turn. */
export function savedFrom(saved: unknown): Maybe<Json> {
  const text = textOf(saved);
  return text === "" ? undefined : JSON.parse(text);
}
