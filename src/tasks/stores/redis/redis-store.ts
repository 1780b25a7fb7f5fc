import type { Envelope, EventOf, Maybe, OperationOf, PushConfig, Records } from "../../../envelope/index.js";
import { eventSize } from "../../content-size.js";
import type { TaskLimits } from "../../limits.js";
import type {
  Appended,
  Batch,
  CancelRequested,
  Created,
  DuePush,
  EnqueueResult,
  Hold,
  LeaseRequest,
  NewTask,
  PushProgress,
  Resumed,
  Store,
  TakenOver,
  TurnState,
} from "../../store.js";
import { contentRecords } from "../sealed-records.js";
import type { StoredContent } from "../stored-content.js";
import { CallerMessages } from "./caller-messages.js";
import type { RedisConnection } from "./connection.js";
import { type KeyNames, subjectIn } from "./keys.js";
import { savedFrom, TaskLeases } from "./leases.js";
import { RedisRecords } from "./records.js";
import { RedisReplayGuard } from "./replays.js";
import { listOf, numberOf, textOf, textsOf } from "./replies.js";
import { turnMessageFrom } from "./task-fold.js";
import { TaskReads } from "./task-reads.js";
import { TaskScripts } from "./task-scripts.js";
import type { WakeChannels } from "./wake-channels.js";
import { RedisWebhooks } from "./webhooks.js";
import { Withdrawals } from "./withdrawals.js";
import { appendedFrom, batchValues, newTaskValues, refusedResume, stateFrom } from "./writing.js";

/** Dependencies of the store. */
export interface RedisStoreParts {
  readonly redis: RedisConnection;
  readonly wakeChannels: WakeChannels;
  readonly names: KeyNames;
  readonly limits: TaskLimits;
  readonly content: StoredContent;
  readonly slackMs: number;
  readonly durability: string;
  /** Identifies this store, so that it ignores its own notifications. */
  readonly origin: string;
}

const _FIRST_KEPT = 1;
/** Eviction attempts for one new task: other processes may take the freed room. */
const EVICTION_ROUNDS = 64;
const CLOSED: Appended = Object.freeze({ ok: false, because: "closed" });
const STATUS_BYTES = eventSize({ kind: "status", taskId: "", contextId: "", status: { state: "working", at: 0 } });
const ENQUEUE_RESULTS = new Set<unknown>(["queued", "repeated", "missing", "closed", "interrupted", "busy", "full"]);

/** Every method is one script, and so one step and one round trip; hints go out before it, on the same connection. */
export class RedisStore implements Store {
  readonly durability: string;
  readonly records: RedisRecords;
  readonly contentRecords: Records;
  readonly replayGuard: NonNullable<Store["replayGuard"]>;
  readonly #redis: RedisConnection;
  readonly #wakeChannels: WakeChannels;
  readonly #names: KeyNames;
  readonly #slackMs: number;
  readonly #origin: string;
  readonly #scripts: TaskScripts;
  readonly #content: StoredContent;
  readonly #reads: TaskReads;
  readonly #messages: CallerMessages;
  readonly #leases: TaskLeases;
  readonly #webhooks: RedisWebhooks;
  readonly #withdrawals: Withdrawals;
  readonly #makingRoom = new Map<string, Promise<unknown>>();

  constructor({ redis, wakeChannels, names, limits, content, slackMs, durability, origin }: RedisStoreParts) {
    this.durability = durability;
    this.records = new RedisRecords(redis, names.records, limits);
    this.contentRecords = contentRecords(this.records, content);
    this.replayGuard = (replayLimits, now) => new RedisReplayGuard(redis, { keys: names.replays, limits: replayLimits, now });
    this.#redis = redis;
    this.#wakeChannels = wakeChannels;
    this.#names = names;
    this.#slackMs = slackMs;
    this.#origin = origin;
    this.#scripts = new TaskScripts(redis, origin);
    this.#content = content;
    this.#reads = new TaskReads({ redis, names, scripts: this.#scripts, content, limits });
    this.#messages = new CallerMessages(redis, this.#scripts, content);
    this.#leases = new TaskLeases(redis, names, this.#scripts, content);
    this.#webhooks = new RedisWebhooks(redis, names, this.#scripts, content);
    this.#withdrawals = new Withdrawals(this.#scripts);
  }

  get sealed(): boolean {
    return this.#content.isSealed;
  }

  get refusedContent(): number {
    return this.#content.refused;
  }

  async ping(): Promise<void> {
    await this.#redis.command("PING", []);
  }

  async create(start: NewTask): Promise<Created> {
    const { owner, agent, key, task, lease, push } = start;
    const keys = this.#names.ofTask(owner, task.id);
    const ofKey = key === undefined ? undefined : this.#names.ofKey(keys.tag, agent, key);
    if (ofKey !== undefined) await this.#withdrawals.of(ofKey);
    const values = newTaskValues(this.#content, keys, start, this.#slackMs);
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
    const { values, releases } = batchValues(this.#content, task.keys, batch);
    const appended = appendedFrom(await this.#scripts.run("append", task.keys, values));
    if (!appended.ok) return appended;
    if (releases) this.#leases.release(task);
    if (appended.pushDue) this.#webhooks.note(task.keys);
    this.#wakeChannels.notifyLocal(this.#names.wakeChannel(taskId));
    return appended;
  }

  async enqueue(taskId: string, owner: string, message: Envelope): Promise<EnqueueResult> {
    const answer = await this.#messages.enqueue(this.#names.ofTask(owner, taskId), message);
    return ENQUEUE_RESULTS.has(answer) ? (answer as EnqueueResult) : "missing";
  }

  async resume(taskId: string, owner: string, message: Envelope, lease: LeaseRequest): Promise<Resumed> {
    const keys = this.#names.ofTask(owner, taskId);
    const hint = this.#leases.announce(keys, lease);
    const resuming = this.#messages.resume(keys, message, [STATUS_BYTES, lease.holder, lease.leaseMs]);
    const [[outcome, epoch, turn, saved, material, pushDue]] = await Promise.all([resuming, hint.done]);
    if (outcome !== "ok") {
      this.#leases.checkSoon(keys);
      return { ok: false, because: refusedResume(outcome) };
    }
    this.#leases.remember(hint);
    this.#wakeChannels.notifyLocal(this.#names.wakeChannel(taskId));
    if (pushDue === 1) this.#webhooks.note(keys);
    const { task, seq } = this.#reads.fold(keys, material);
    return { ok: true, epoch: numberOf(epoch), seq, turn: numberOf(turn), task, state: savedFrom(this.#content, keys, saved) };
  }

  async nextTurn(taskId: string, epoch: number, turn: number): Promise<Maybe<{ message: Envelope; turnState: TurnState }>> {
    const keys = (await this.#leases.find(taskId))?.keys;
    const answer = keys === undefined ? null : await this.#scripts.run("nextTurn", keys, [epoch, turn]);
    if (keys === undefined || answer === null) return undefined;
    const [message, next, saved, material] = listOf(answer);
    const { task, seq } = this.#reads.fold(keys, material);
    const turnState = { epoch, seq, turn: numberOf(next), task, state: savedFrom(this.#content, keys, saved) };
    return { message: turnMessageFrom(this.#content, keys, message), turnState };
  }

  facts(taskId: string, owner: string) {
    return this.#reads.facts(this.#names.ofTask(owner, taskId));
  }

  async read(taskId: string, owner: string, after: number, limit: number) {
    // A listener reads only once its subscription is confirmed, so that it misses nothing.
    const subscribing = this.#wakeChannels.subscribing(this.#names.wakeChannel(taskId));
    if (subscribing !== undefined) await subscribing;
    return this.#reads.read(this.#names.ofTask(owner, taskId), after, limit);
  }

  snapshot(taskId: string, owner: string, at?: number) {
    return this.#reads.snapshot(this.#names.ofTask(owner, taskId), at);
  }

  list(owner: string, query: OperationOf<"task.list">): Promise<EventOf<"task.list">> {
    return this.#reads.list(owner, query);
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
    this.#content.close();
    await this.#redis.close();
  }

  async #makeRoom(tag: string, going: readonly string[]): Promise<void> {
    const evict = () => Promise.all(going.map((kept) => this.#scripts.run("evict", this.#names.ofKept(tag, kept), [])));
    const subject = subjectIn(tag);
    const making = this.#makingRoom.get(subject) ?? evict().finally(() => this.#makingRoom.delete(subject));
    this.#makingRoom.set(subject, making);
    await making;
  }
}
