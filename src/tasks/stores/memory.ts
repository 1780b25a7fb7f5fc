import { type Envelope, isTerminal, type Maybe, type PushConfig, type TaskEvent } from "../../envelope/index.js";
import { eventSize, messageSize } from "../content-size.js";
import { type TaskLimits, taskLimits } from "../limits.js";
import type {
  Appended,
  Batch,
  Created,
  DuePush,
  EnqueueResult,
  Entry,
  Hold,
  LeaseRequest,
  NewTask,
  PushProgress,
  Resumed,
  Store,
  TakenOver,
} from "../store.js";
import { answerFor, KeyIndex } from "./key-index.js";
import { listTasks } from "./list-tasks.js";
import { MemoryRecords } from "./memory-records.js";
import { TaskIndex } from "./task-index.js";
import { TaskRecord } from "./task-record.js";
import { WebhookNotifications } from "./webhook-notifications.js";

/** Options of `createMemoryStore`. */
export interface MemoryStoreOptions {
  /** Overrides of the default limits (`DEFAULT_TASK_LIMITS`). */
  readonly limits?: Maybe<Partial<TaskLimits>>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Current size of a memory store. */
export interface MemoryStoreSize {
  readonly tasks: number;
  readonly bytes: number;
}

const WRITTEN: Appended = Object.freeze({ ok: true, cancelRequested: false, pushDue: false });
const FIRST_KEPT = 1;
const nothing = (): void => undefined;

/** Creates a store in memory: fast, bounded, lost when the process ends. */
export function createMemoryStore({ limits, now }: MemoryStoreOptions): Store & { readonly size: MemoryStoreSize } {
  return new MemoryStore(taskLimits(limits), now);
}

/** No method awaits, so each is atomic. */
class MemoryStore implements Store {
  readonly durability = "in memory: lost when this process ends";
  readonly records: MemoryRecords;
  readonly #limits: TaskLimits;
  readonly #now: () => number;
  readonly #tasks: TaskIndex;
  readonly #keys: KeyIndex;
  readonly #webhooks: WebhookNotifications;

  constructor(limits: TaskLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.records = new MemoryRecords(limits, now);
    this.#webhooks = new WebhookNotifications(limits.pushConfigsPerTask, now);
    this.#tasks = new TaskIndex(limits, now, (record) => this.#webhooks.forget(record));
    this.#keys = new KeyIndex(limits);
  }

  get size(): MemoryStoreSize {
    return { tasks: this.#tasks.size, bytes: this.#tasks.bytes };
  }

  create(start: NewTask): Created {
    const { owner, agent, key, task } = start;
    const nowMs = this.#now();
    if (key !== undefined) {
      const known = this.#keys.check(owner, agent, key, nowMs);
      if (known !== undefined) return answerFor(known, this.#tasks.find(known.taskId, owner) !== undefined);
      if (this.#keys.isFull(owner)) return { made: false, because: "full" };
    }
    const record = new TaskRecord(start, nowMs);
    if (!this.#tasks.hasRoom(owner, record.bytes, 1)) return { made: false, because: "full" };
    if (key !== undefined) this.#keys.keep(owner, agent, key, { taskId: task.id, nowMs });
    this.#tasks.add(record);
    if (record.pushes !== undefined) this.#webhooks.note(record);
    return { made: true, epoch: record.epoch };
  }

  append(taskId: string, batch: Batch): Appended {
    const record = this.#tasks.get(taskId);
    if (record === undefined || record.closed) return { ok: false, because: "closed" };
    if (record.holder === undefined || record.epoch !== batch.epoch) return { ok: false, because: "fenced" };
    if (record.seq !== batch.after) return { ok: false, because: "sequence" };
    if (batch.unlessQueued && record.waiting > 0) return { ok: false, because: "queued" };
    const { events } = batch;
    let bytes = 0;
    for (const event of events) bytes += eventSize(event);
    if (!this.#fits(record, events, bytes)) return { ok: false, because: "full" };
    for (const event of events) record.push(event);
    this.#tasks.grow(record, bytes);
    if (batch.state !== undefined) record.saved = batch.state;
    if (record.holder === undefined) this.#tasks.rest(record);
    record.notify();
    return this.#appended(record);
  }

  async facts(taskId: string, owner: string) {
    const record = this.#tasks.find(taskId, owner);
    if (record === undefined) return undefined;
    const { agent, contextId, status: state, seq, saved } = record;
    return { agent, contextId, state, seq, saved };
  }

  async enqueue(taskId: string, owner: string, message: Envelope): Promise<EnqueueResult> {
    const record = this.#tasks.find(taskId, owner);
    if (record === undefined) return "missing";
    if (record.hasMessage(message)) return "repeated";
    if (record.closed) return "closed";
    if (record.interrupted) return "interrupted";
    if (record.waiting >= this.#limits.inputsPerTask) return "busy";
    if (!this.#fitsMessage(record, message)) return "full";
    this.#addMessage(record, message);
    record.inputs ??= [];
    record.inputs.push(message);
    return "queued";
  }

  async resume(taskId: string, owner: string, message: Envelope, lease: LeaseRequest): Promise<Resumed> {
    const record = this.#tasks.find(taskId, owner);
    if (record === undefined) return { ok: false, because: "missing" };
    if (record.hasMessage(message)) return { ok: false, because: "repeated" };
    if (record.closed) return { ok: false, because: "closed" };
    if (!record.interrupted) return { ok: false, because: "running" };
    // First remove it from the eviction list: making room must not evict this task.
    this.#tasks.activate(record);
    const event = this.#statusEvent(record, "working");
    const bytes = eventSize(event);
    if (!this.#fitsMessage(record, message) || !this.#fits(record, [event], bytes)) {
      this.#tasks.rest(record);
      return { ok: false, because: "full" };
    }
    record.push(event);
    this.#tasks.grow(record, bytes);
    this.#hold(record, lease);
    this.#addMessage(record, message);
    record.turn += 1;
    record.notify();
    this.#webhooks.note(record);
    return { ok: true, ...record.turnState() };
  }

  async nextTurn(taskId: string, epoch: number, turn: number) {
    const record = this.#tasks.get(taskId);
    if (record === undefined || record.holder === undefined || record.epoch !== epoch) return undefined;
    if (record.turn === turn && !record.beginTurn()) return undefined;
    return { message: record.message, turnState: record.turnState() };
  }

  read(taskId: string, owner: string, after: number, limit: number) {
    const record = this.#tasks.find(taskId, owner);
    if (record === undefined) return undefined;
    const entries: Entry[] = [];
    const end = Math.min(record.seq, after + limit);
    for (let seq = after + 1; seq <= end; seq++) {
      const event = record.event(seq);
      if (event !== undefined) entries.push({ seq, event });
    }
    return { firstKept: FIRST_KEPT, entries, closed: record.closed };
  }

  async snapshot(taskId: string, owner: string, at?: number) {
    const record = this.#tasks.find(taskId, owner);
    return at === undefined ? record?.snapshot() : record?.snapshotAt(at);
  }

  async list(owner: string, query: Parameters<Store["list"]>[1]) {
    return listTasks(this.#tasks.of(owner), query, this.#limits.defaultPageSize);
  }

  async requestCancel(taskId: string, owner: string) {
    const record = this.#tasks.find(taskId, owner);
    if (record === undefined) return undefined;
    if (record.closed) return { outcome: "closed", state: record.status } as const;
    record.cancelRequested = true;
    if (record.holder !== undefined) return { outcome: "notified", holder: record.holder } as const;
    const event = this.#statusEvent(record, "canceled");
    this.#tasks.closeResting(record, () => record.push(event));
    this.#tasks.grow(record, eventSize(event));
    record.notify();
    this.#webhooks.note(record);
    return { outcome: "canceled", state: record.status } as const;
  }

  async renew(holds: readonly Hold[], leaseMs: number): Promise<readonly Appended[]> {
    const untilMs = this.#now() + leaseMs;
    return holds.map(({ taskId, epoch }): Appended => {
      const record = this.#tasks.get(taskId);
      if (record === undefined || record.closed) return { ok: false, because: "closed" };
      if (record.holder === undefined || record.epoch !== epoch) return { ok: false, because: "fenced" };
      record.leaseUntilMs = untilMs;
      return this.#appended(record);
    });
  }

  async takeOver(lease: LeaseRequest, limit: number): Promise<readonly TakenOver[]> {
    const nowMs = this.#now();
    const taken: TakenOver[] = [];
    for (const record of this.#tasks.held.all) {
      if (taken.length >= limit) break;
      if (record.leaseUntilMs > nowMs) continue;
      this.#hold(record, lease);
      const { taskId, epoch, owner, agent, contextId, seq, turn, message, saved: state, cancelRequested } = record;
      taken.push({ taskId, epoch, owner, agent, contextId, seq, turn, message, state, cancelRequested });
    }
    return taken;
  }

  async setPush(owner: string, config: PushConfig) {
    const record = this.#tasks.find(config.taskId, owner);
    return record === undefined ? "missing" : this.#webhooks.set(record, config);
  }

  async pushes(taskId: string, owner: string) {
    const record = this.#tasks.find(taskId, owner);
    return record === undefined ? undefined : (record.pushes ?? []).map((push) => push.shown(record.seq));
  }

  async deletePush(taskId: string, owner: string, id: string) {
    const record = this.#tasks.find(taskId, owner);
    if (record !== undefined) this.#webhooks.delete(record, id);
    return record !== undefined;
  }

  async duePushes(lease: LeaseRequest, limit: number): Promise<readonly DuePush[]> {
    return this.#webhooks.due(lease, limit);
  }

  async recordPush(due: DuePush, progress: PushProgress): Promise<boolean> {
    const record = this.#tasks.find(due.config.taskId, due.owner);
    return record !== undefined && this.#webhooks.recordPush(record, due, progress);
  }

  wake(taskId: string, run: () => void): () => void {
    const record = this.#tasks.get(taskId);
    if (record === undefined) return nothing;
    record.listen(run);
    return () => record.unlisten(run);
  }

  /** A single closing status is always accepted: a task must be able to end. */
  #fits(record: TaskRecord, events: readonly TaskEvent[], bytes: number): boolean {
    const [only] = events;
    if (events.length === 1 && only?.kind === "status" && isTerminal(only.status.state)) return true;
    const { journalEntries, journalBytes } = this.#limits;
    return (
      record.seq + record.messageCount + events.length <= journalEntries &&
      record.bytes + bytes <= journalBytes &&
      this.#tasks.hasRoom(record.owner, bytes, 0)
    );
  }

  #fitsMessage(record: TaskRecord, message: Envelope): boolean {
    return this.#fits(record, [], messageSize(message)) && record.seq + record.messageCount < this.#limits.journalEntries;
  }

  #appended(record: TaskRecord): Appended {
    const pushDue = record.pushes !== undefined && this.#webhooks.note(record);
    return pushDue || record.cancelRequested ? { ok: true, cancelRequested: record.cancelRequested, pushDue } : WRITTEN;
  }

  #addMessage(record: TaskRecord, message: Envelope): void {
    record.addMessage(message);
    this.#tasks.grow(record, messageSize(message));
  }

  #hold(record: TaskRecord, { holder, leaseMs }: LeaseRequest): void {
    record.epoch += 1;
    record.holder = holder;
    record.leaseUntilMs = this.#now() + leaseMs;
  }

  #statusEvent(record: TaskRecord, state: "working" | "canceled"): TaskEvent {
    return { kind: "status", taskId: record.taskId, contextId: record.contextId, status: { state, at: this.#now() } };
  }
}
