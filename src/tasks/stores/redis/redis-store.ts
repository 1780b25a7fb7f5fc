import type { Envelope, EventOf, Maybe, OperationOf, PushConfig } from "../../../envelope/index.js";
import { eventSize } from "../../content-size.js";
import type { TaskLimits } from "../../limits.js";
import { pageTokenOf } from "../../page-token.js";
import type {
  Appended,
  Batch,
  CancelRequested,
  Created,
  DuePush,
  EnqueueResult,
  Facts,
  Hold,
  LeaseRequest,
  NewTask,
  PushProgress,
  Resumed,
  Snapshot,
  Store,
  TakenOver,
  TurnState,
} from "../../store.js";
import { eventFrom, storedText } from "../stored-form.js";
import type { RedisConnection } from "./connection.js";
import { type KeyNames, subjectIn, type TaskKeys } from "./keys.js";
import { savedFrom, TaskLeases } from "./leases.js";
import { listingOf } from "./listing.js";
import { RedisRecords } from "./records.js";
import { RedisReplayGuard } from "./replays.js";
import { listOf, numberOf, textOf, textsOf } from "./replies.js";
import { foldedFrom, turnMessageFrom } from "./task-fold.js";
import { TaskScripts } from "./task-scripts.js";
import type { WakeChannels } from "./wake-channels.js";
import { RedisWebhooks } from "./webhooks.js";
import { Withdrawals } from "./withdrawals.js";
import { appendedFrom, batchValues, messageValues, newTaskValues, refusedResume, stateFrom } from "./writing.js";

/** Dependencies of the store. */
export interface RedisStoreParts {
  readonly redis: RedisConnection;
  readonly wakeChannels: WakeChannels;
  readonly names: KeyNames;
  readonly limits: TaskLimits;
  readonly slackMs: number;
  readonly durability: string;
  /** Identifies this store, so that it ignores its own notifications. */
  readonly origin: string;
}

const FIRST_KEPT = 1;
/** Eviction attempts for one new task: other processes may take the freed room. */
const EVICTION_ROUNDS = 64;
const CLOSED: Appended = Object.freeze({ ok: false, because: "closed" });
const STATUS_BYTES = eventSize({ kind: "status", taskId: "", contextId: "", status: { state: "working", at: 0 } });
const ENQUEUE_RESULTS = new Set<unknown>(["queued", "repeated", "missing", "closed", "interrupted", "busy", "full"]);

/** Every method is one script, and so one step and one round trip; hints go out before it, on the same connection. */
export class RedisStore implements Store {
  readonly durability: string;
  readonly records: RedisRecords;
  readonly replayGuard: NonNullable<Store["replayGuard"]>;
  readonly #redis: RedisConnection;
  readonly #wakeChannels: WakeChannels;
  readonly #names: KeyNames;
  readonly #limits: TaskLimits;
  readonly #slackMs: number;
  readonly #origin: string;
  readonly #scripts: TaskScripts;
  readonly #leases: TaskLeases;
  readonly #webhooks: RedisWebhooks;
  readonly #withdrawals: Withdrawals;
  readonly #makingRoom = new Map<string, Promise<unknown>>();

  constructor({ redis, wakeChannels, names, limits, slackMs, durability, origin }: RedisStoreParts) {
    this.durability = durability;
    this.records = new RedisRecords(redis, names.records, limits);
    this.replayGuard = (replayLimits, now) => new RedisReplayGuard(redis, { keys: names.replays, limits: replayLimits, now });
    this.#redis = redis;
    this.#wakeChannels = wakeChannels;
    this.#names = names;
    this.#limits = limits;
    this.#slackMs = slackMs;
    this.#origin = origin;
    this.#scripts = new TaskScripts(redis, origin);
    this.#leases = new TaskLeases(redis, names, this.#scripts);
    this.#webhooks = new RedisWebhooks(redis, names, this.#scripts);
    this.#withdrawals = new Withdrawals(this.#scripts);
  }

  async ping(): Promise<void> {
    await this.#redis.command("PING", []);
  }

  async create(start: NewTask): Promise<Created> {
    const { owner, agent, key, task, lease, push } = start;
    const keys = this.#names.ofTask(owner, task.id);
    const ofKey = key === undefined ? undefined : this.#names.ofKey(keys.tag, agent, key);
    if (ofKey !== undefined) await this.#withdrawals.of(ofKey);
    const values = newTaskValues(start, this.#slackMs);
    const hint = this.#leases.announce(keys, lease);
    const announced = push === undefined ? undefined : this.#webhooks.announce(keys);
    let answer: unknown;
    try {
      [answer] = await Promise.all([this.#scripts.run("create", keys, values, ofKey), hint.done, announced]);
      for (let tries = 0; tries < EVICTION_ROUNDS && listOf(answer)[0] === "room"; tries++) {
        await this.#makeRoom(keys.tag, textsOf(answer).slice(1));
        answer = await this.#scripts.run("create", keys, values, ofKey);
      }
    } catch (thrown) {
      // The caller is told of a failure, so nothing may remain of the task: it could be made without its hint, or later.
      this.#withdrawals.add(keys, ofKey, lease.holder);
      throw thrown;
    }
    const [outcome, taskId = ""] = textsOf(answer);
    if (outcome === "made") {
      this.#leases.remember(hint);
      if (push !== undefined) this.#webhooks.note(keys);
      return { made: true, epoch: 1 };
    }
    if (outcome === "there") this.#leases.checkSoon(keys);
    else this.#leases.release(hint);
    // In case the task has neither a holder nor a hint.
    if (outcome === "repeated") this.#leases.checkSoon(this.#names.ofTag(keys.tag, taskId));
    if (outcome === "repeated") return { made: false, because: "repeated", taskId };
    if (outcome === "conflict" || outcome === "there") return { made: false, because: "conflict" };
    return { made: false, because: outcome === "expired" ? "expired" : "full" };
  }

  async append(taskId: string, batch: Batch): Promise<Appended> {
    const task = await this.#leases.find(taskId);
    if (task === undefined) return CLOSED;
    const { values, releases } = batchValues(batch);
    const appended = appendedFrom(await this.#scripts.run("append", task.keys, values));
    if (!appended.ok) return appended;
    if (releases) this.#leases.release(task);
    if (appended.pushDue) this.#webhooks.note(task.keys);
    this.#wakeChannels.notifyLocal(this.#names.wakeChannel(taskId));
    return appended;
  }

  async facts(taskId: string, owner: string): Promise<Maybe<Facts>> {
    const [columns = ""] = this.#names.ofTask(owner, taskId).all;
    const answer = await this.#redis.command("HMGET", [columns, "agent", "context", "state", "seq", "gone", "saved"]);
    const [agent, context, state, seq, gone, saved] = listOf(answer);
    if (agent === null || (gone !== null && numberOf(gone) <= this.#redis.nowMs)) return undefined;
    return {
      agent: textOf(agent),
      contextId: textOf(context),
      state: stateFrom(state),
      seq: numberOf(seq),
      saved: savedFrom(saved ?? ""),
    };
  }

  async enqueue(taskId: string, owner: string, message: Envelope): Promise<EnqueueResult> {
    const answer = await this.#scripts.run("enqueue", this.#names.ofTask(owner, taskId), messageValues(message));
    return ENQUEUE_RESULTS.has(answer) ? (answer as EnqueueResult) : "missing";
  }

  async resume(taskId: string, owner: string, message: Envelope, lease: LeaseRequest): Promise<Resumed> {
    const keys = this.#names.ofTask(owner, taskId);
    const values = [...messageValues(message), STATUS_BYTES, lease.holder, lease.leaseMs];
    const hint = this.#leases.announce(keys, lease);
    const [answer] = await Promise.all([this.#scripts.run("resume", keys, values), hint.done]);
    const [outcome, epoch, turn, saved, material, pushDue] = listOf(answer);
    if (outcome !== "ok") {
      this.#leases.checkSoon(keys);
      return { ok: false, because: refusedResume(outcome) };
    }
    this.#leases.remember(hint);
    this.#wakeChannels.notifyLocal(this.#names.wakeChannel(taskId));
    if (pushDue === 1) this.#webhooks.note(keys);
    const { task, seq } = this.#fold(keys, material);
    return { ok: true, epoch: numberOf(epoch), seq, turn: numberOf(turn), task, state: savedFrom(saved) };
  }

  async nextTurn(taskId: string, epoch: number, turn: number): Promise<Maybe<{ message: Envelope; turnState: TurnState }>> {
    const keys = (await this.#leases.find(taskId))?.keys;
    const answer = keys === undefined ? null : await this.#scripts.run("nextTurn", keys, [epoch, turn]);
    if (keys === undefined || answer === null) return undefined;
    const [message, next, saved, material] = listOf(answer);
    const { task, seq } = this.#fold(keys, material);
    const turnState = { epoch, seq, turn: numberOf(next), task, state: savedFrom(saved) };
    return { message: turnMessageFrom(message), turnState };
  }

  async read(taskId: string, owner: string, after: number, limit: number) {
    // A listener reads only once its subscription is confirmed, so that it misses nothing.
    const subscribing = this.#wakeChannels.subscribing(this.#names.wakeChannel(taskId));
    if (subscribing !== undefined) await subscribing;
    const answer = await this.#scripts.run("read", this.#names.ofTask(owner, taskId), [after, limit]);
    if (answer === null) return undefined;
    const [closed, texts] = listOf(answer);
    const entries = textsOf(texts).map((text, index) => ({ seq: after + 1 + index, event: eventFrom(text) }));
    return { firstKept: FIRST_KEPT, entries, closed: closed === 1 };
  }

  async snapshot(taskId: string, owner: string, at?: number): Promise<Maybe<Snapshot>> {
    return this.#snapshot(this.#names.ofTask(owner, taskId), at);
  }

  /** The page is chosen in one step; its tasks are read right after, each as it is by then. */
  async list(owner: string, query: OperationOf<"task.list">): Promise<EventOf<"task.list">> {
    const pageSize = query.pageSize ?? this.#limits.defaultPageSize;
    const tag = this.#names.tagOf(owner);
    const { ids, totalSize, end } = await listingOf(this.#redis, this.#names.indexes(tag), query, pageSize);
    const snapshots = await Promise.all(ids.map((id) => this.#snapshot(this.#names.ofTag(tag, id))));
    const tasks = snapshots.flatMap((snapshot) => snapshot?.task ?? []);
    return { kind: "tasks", tasks, nextPageToken: end === undefined ? "" : pageTokenOf(end), pageSize, totalSize };
  }

  async requestCancel(taskId: string, owner: string): Promise<Maybe<CancelRequested>> {
    const keys = this.#names.ofTask(owner, taskId);
    const answer = await this.#scripts.run("requestCancel", keys, [STATUS_BYTES]);
    if (answer === null) return undefined;
    const [outcome, which, pushDue] = listOf(answer);
    if (outcome === "notified") {
      this.#leases.checkSoon(keys); // in case the task has neither a holder nor a hint
      return { outcome, holder: textOf(which) };
    }
    if (pushDue === 1) this.#webhooks.note(keys);
    if (outcome !== "canceled") return { outcome: "closed", state: stateFrom(which) };
    this.#wakeChannels.notifyLocal(this.#names.wakeChannel(taskId));
    return { outcome, state: stateFrom(which) };
  }

  async renew(holds: readonly Hold[], leaseMs: number): Promise<readonly Appended[]> {
    return Promise.all(holds.map((hold) => this.#leases.renew(hold, leaseMs)));
  }

  async takeOver(lease: LeaseRequest, limit: number): Promise<readonly TakenOver[]> {
    return this.#leases.takeOver(lease, limit);
  }

  async setPush(owner: string, config: PushConfig) {
    return this.#webhooks.set(this.#names.ofTask(owner, config.taskId), config);
  }

  async pushes(taskId: string, owner: string) {
    return this.#webhooks.all(this.#names.ofTask(owner, taskId));
  }

  async deletePush(taskId: string, owner: string, id: string) {
    return this.#webhooks.delete(this.#names.ofTask(owner, taskId), id);
  }

  async duePushes(lease: LeaseRequest, limit: number): Promise<readonly DuePush[]> {
    return this.#webhooks.due(lease, limit);
  }

  async recordPush(due: DuePush, progress: PushProgress): Promise<boolean> {
    return this.#webhooks.recordPush(this.#names.ofTask(due.owner, due.config.taskId), due, progress);
  }

  wake(taskId: string, run: () => void): () => void {
    return this.#wakeChannels.on(this.#names.wakeChannel(taskId), (origin) => {
      if (origin !== this.#origin) run();
    });
  }

  /** Not notified after a reconnect: the holder sees a cancel in its next renewal. */
  listen(holder: string, onCancel: (taskId: string) => void): () => void {
    return this.#wakeChannels.on(this.#names.holderChannel(holder), (taskId) => {
      if (taskId !== undefined) onCancel(taskId);
    });
  }

  async close(): Promise<void> {
    this.#withdrawals.close();
    this.#wakeChannels.close();
    await this.#redis.close();
  }

  async #makeRoom(tag: string, going: readonly string[]): Promise<void> {
    const evict = () => Promise.all(going.map((kept) => this.#scripts.run("evict", this.#names.ofKept(tag, kept), [])));
    const subject = subjectIn(tag);
    const making = this.#makingRoom.get(subject) ?? evict().finally(() => this.#makingRoom.delete(subject));
    this.#makingRoom.set(subject, making);
    await making;
  }

  async #snapshot(keys: TaskKeys, at?: number): Promise<Maybe<Snapshot>> {
    const answer = await this.#scripts.run("snapshot", keys, [at ?? ""]);
    if (answer === null) return undefined;
    const { task, seq } = this.#fold(keys, answer, at === undefined);
    return { task, seq };
  }

  /** Stores a snapshot after folding many entries. */
  #fold(keys: TaskKeys, material: unknown, isNow = true): Snapshot {
    const folded = foldedFrom(material);
    const { task, seq, messages, applied } = folded;
    if (isNow && applied >= this.#limits.entriesPerSnapshot) {
      this.#scripts.run("keepSnapshot", keys, [seq, messages, storedText(task)]).catch(() => undefined);
    }
    return folded;
  }
}
