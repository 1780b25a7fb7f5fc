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
import { EarlyTasks } from "./early-tasks.js";
import type { KeyNames } from "./keys.js";
import { savedFrom, TaskLeases } from "./leases.js";
import { RedisRecords } from "./records.js";
import { RedisReplayGuard } from "./replays.js";
import { listOf, numberOf, textOf } from "./replies.js";
import { turnMessageFrom } from "./task-fold.js";
import { TaskReads } from "./task-reads.js";
import { TaskScripts } from "./task-scripts.js";
import { TaskWrites } from "./task-writes.js";
import type { WakeChannels } from "./wake-channels.js";
import { RedisWebhooks } from "./webhooks.js";
import { refusedResume, stateFrom } from "./writing.js";

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

/** Eviction attempts for one new task: other processes may take the freed room. */
const _EVICTION_ROUNDS = 64;
const _CLOSED: Appended = Object.freeze({ ok: false, because: "closed" });
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
  readonly #origin: string;
  readonly #scripts: TaskScripts;
  readonly #content: StoredContent;
  readonly #reads: TaskReads;
  readonly #messages: CallerMessages;
  readonly #leases: TaskLeases;
  readonly #webhooks: RedisWebhooks;
  readonly #writes: TaskWrites;
  readonly #early: EarlyTasks;

  constructor({ redis, wakeChannels, names, limits, content, slackMs, durability, origin }: RedisStoreParts) {
    this.durability = durability;
    this.records = new RedisRecords(redis, names.records, limits);
    this.contentRecords = contentRecords(this.records, content);
    this.replayGuard = (replayLimits, now) => new RedisReplayGuard(redis, { keys: names.replays, limits: replayLimits, now });
    this.#redis = redis;
    this.#wakeChannels = wakeChannels;
    this.#names = names;
    this.#origin = origin;
    this.#scripts = new TaskScripts(redis, origin);
    this.#content = content;
    this.#reads = new TaskReads({ redis, names, scripts: this.#scripts, content, limits });
    this.#messages = new CallerMessages(redis, this.#scripts, content);
    this.#leases = new TaskLeases(redis, names, this.#scripts, content);
    this.#webhooks = new RedisWebhooks(redis, names, this.#scripts, content);
    const leases = this.#leases;
    const webhooks = this.#webhooks;
    this.#writes = new TaskWrites({ redis, names, scripts: this.#scripts, content, leases, webhooks, wakeChannels, slackMs });
    this.#early = new EarlyTasks(this.#writes, limits);
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
    const { early, key, push } = start;
    return early === true && key === undefined && push === undefined ? this.#early.add(start) : this.#writes.create(start);
  }

  append(taskId: string, batch: Batch): Promise<Appended> {
    return this.#early.append(taskId, batch) ?? this.#writes.append(taskId, batch);
  }

  async enqueue(taskId: string, owner: string, message: Envelope): Promise<EnqueueResult> {
    await this.#early.settled(taskId);
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
    await this.#early.settled(taskId);
    const keys = (await this.#leases.find(taskId))?.keys;
    const answer = keys === undefined ? null : await this.#scripts.run("nextTurn", keys, [epoch, turn]);
    if (keys === undefined || answer === null) return undefined;
    const [message, next, saved, material] = listOf(answer);
    const { task, seq } = this.#reads.fold(keys, material);
    const turnState = { epoch, seq, turn: numberOf(next), task, state: savedFrom(this.#content, keys, saved) };
    return { message: turnMessageFrom(this.#content, keys, message), turnState };
  }

  async facts(taskId: string, owner: string) {
    await this.#early.settled(taskId);
    return this.#reads.facts(this.#names.ofTask(owner, taskId));
  }

  async read(taskId: string, owner: string, after: number, limit: number) {
    const storing = this.#early.settled(taskId);
    if (storing !== undefined) await storing;
    // A listener reads only once its subscription is confirmed, so that it misses nothing.
    const subscribing = this.#wakeChannels.subscribing(this.#names.wakeChannel(taskId));
    if (subscribing !== undefined) await subscribing;
    return this.#reads.read(this.#names.ofTask(owner, taskId), after, limit);
  }

  async snapshot(taskId: string, owner: string, at?: number) {
    await this.#early.settled(taskId);
    return this.#reads.snapshot(this.#names.ofTask(owner, taskId), at);
  }

  list(owner: string, query: OperationOf<"task.list">): Promise<EventOf<"task.list">> {
    this.#early.flush();
    return this.#reads.list(owner, query);
  }

  async requestCancel(taskId: string, owner: string): Promise<Maybe<CancelRequested>> {
    await this.#early.settled(taskId);
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
    const renew = async (hold: Hold): Promise<Appended> => {
      await this.#early.settled(hold.taskId);
      return this.#leases.renew(hold, leaseMs);
    };
    return Promise.all(holds.map(renew));
  }

  async takeOver(lease: LeaseRequest, limit: number): Promise<readonly TakenOver[]> {
    return this.#leases.takeOver(lease, limit);
  }

  async setPush(owner: string, config: PushConfig) {
    await this.#early.settled(config.taskId);
    return this.#webhooks.set(this.#names.ofTask(owner, config.taskId), config);
  }

  async pushes(taskId: string, owner: string) {
    await this.#early.settled(taskId);
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
    this.#early.flush();
    this.#writes.close();
    this.#wakeChannels.close();
    this.#content.close();
    await this.#redis.close();
  }
}
