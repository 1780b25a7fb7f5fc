import { subjectOf } from "../../envelope/index.js";
import type { TaskLimits } from "../limits.js";
import { Slots } from "../slots.js";
import { type Holder, Holders } from "./holders.js";
import { IdleList } from "./idle-list.js";
import type { TaskRecord } from "./task-record.js";

/** All records of the memory store, indexed by id and owner, bounded in number, bytes and age. */
export class TaskIndex {
  readonly #byId = new Map<string, TaskRecord>();
  readonly #byOwner = new Map<string, Set<TaskRecord>>();
  readonly #holders: Holders;
  /** All finished tasks, in the order in which they expire. */
  readonly #ended = new IdleList("endedBefore", "endedAfter");
  readonly held = new Slots<TaskRecord>();
  readonly #limits: TaskLimits;
  readonly #now: () => number;
  readonly #evicted: (record: TaskRecord) => void;
  #bytes = 0;

  constructor(limits: TaskLimits, now: () => number, evicted: (record: TaskRecord) => void) {
    this.#limits = limits;
    this.#holders = new Holders(limits);
    this.#now = now;
    this.#evicted = evicted;
  }

  get size(): number {
    return this.#byId.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Another owner's task is treated as missing. */
  find(taskId: string, owner: string): TaskRecord | undefined {
    const record = this.get(taskId);
    return record?.owner === owner ? record : undefined;
  }

  get(taskId: string): TaskRecord | undefined {
    const record = this.#byId.get(taskId);
    if (record === undefined || !this.#isOver(record)) return record;
    this.#evict(record);
    return undefined;
  }

  of(owner: string): Iterable<TaskRecord> {
    this.#expire();
    return this.#byOwner.get(owner) ?? [];
  }

  add(record: TaskRecord): void {
    this.#byId.set(record.taskId, record);
    const own = this.#byOwner.get(record.owner);
    if (own === undefined) this.#byOwner.set(record.owner, new Set([record]));
    else own.add(record);
    this.#bytes += record.bytes;
    this.#holders.count(this.#holderOf(record), 1, record.bytes);
    if (record.holder !== undefined) this.held.add(record);
    else this.#rest(record);
  }

  /**
   * Makes room for `bytes` and `tasks` more of this owner: evicts the oldest finished task of whoever keeps most, over all tenants, and
   * nothing of a subject that keeps less than this one. Then its own interrupted tasks: those of others wait for their input.
   */
  hasRoom(owner: string, bytes: number, tasks: 0 | 1): boolean {
    this.#expire();
    while (this.#byId.size + tasks > this.#limits.keptTasks || this.#bytes + bytes > this.#limits.keptBytes) {
      const own = this.#holders.peek(subjectOf(owner));
      const oldest = this.#holders.largest(own)?.ended.oldest ?? own.waiting.oldest;
      if (oldest === undefined) return false;
      this.#evict(oldest);
    }
    return true;
  }

  grow(record: TaskRecord, bytes: number): void {
    record.bytes += bytes;
    this.#bytes += bytes;
    this.#holders.count(this.#holderOf(record), 0, bytes);
  }

  /** The turn is over: the task may now be evicted. */
  rest(record: TaskRecord): void {
    this.held.remove(record);
    this.#rest(record);
  }

  /** The task runs again. Call before its state changes. */
  activate(record: TaskRecord): void {
    this.#holderOf(record).waiting.remove(record);
    this.held.add(record);
  }

  /** Closes an interrupted task. */
  closeResting(record: TaskRecord, close: () => void): void {
    this.#holderOf(record).waiting.remove(record);
    close();
    this.#rest(record);
  }

  #rest(record: TaskRecord): void {
    const { ended, waiting } = this.#holderOf(record);
    if (record.closed) {
      ended.add(record);
      this.#ended.add(record);
    } else waiting.add(record);
  }

  #holderOf({ owner }: TaskRecord): Holder {
    return this.#holders.of(subjectOf(owner));
  }

  #isOver(record: TaskRecord): boolean {
    return record.closed && record.statusAt + this.#limits.keptTasksMs <= this.#now();
  }

  #expire(): void {
    for (let oldest = this.#ended.oldest; oldest !== undefined && this.#isOver(oldest); oldest = this.#ended.oldest) {
      this.#evict(oldest);
    }
  }

  #evict(record: TaskRecord): void {
    const holder = this.#holderOf(record);
    if (record.closed) {
      holder.ended.remove(record);
      this.#ended.remove(record);
    } else holder.waiting.remove(record);
    this.#byId.delete(record.taskId);
    this.#bytes -= record.bytes;
    this.#holders.count(holder, -1, -record.bytes);
    const own = this.#byOwner.get(record.owner);
    own?.delete(record);
    if (own?.size === 0) this.#byOwner.delete(record.owner);
    this.#evicted(record);
    record.notify();
  }
}
