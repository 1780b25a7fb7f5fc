import { Slots, subjectOf } from "../../envelope/index.js";
import type { TaskLimits } from "../limits.js";
import { type Holder, Holders } from "./holders.js";
import type { TaskRecord } from "./task-record.js";

/** How often the room of expired tasks is given back. Until then nobody is shown them. */
const EXPIRE_EVERY_MS = 1_000;

/**
 * All records of the memory store, found by id and by what their subjects keep, bounded in number, bytes and age. No other index: what is
 * kept for each task makes every garbage collection longer.
 */
export class TaskIndex {
  readonly #byId = new Map<string, TaskRecord>();
  readonly #holders: Holders;
  readonly held = new Slots<TaskRecord>();
  readonly #limits: TaskLimits;
  readonly #now: () => number;
  readonly #evicted: (record: TaskRecord) => void;
  #bytes = 0;
  #expireAt = 0;

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

  /** In no order. Reads what the subject keeps in all its tenants, and what is running. */
  *of(owner: string): Iterable<TaskRecord> {
    const { ended, waiting } = this.#holders.peek(subjectOf(owner));
    for (const record of this.held.all) if (record.owner === owner) yield record;
    for (const { oldest } of [waiting, ended]) {
      for (let record = oldest; record !== undefined; record = record.newer)
        if (record.owner === owner && !this.#isOver(record)) yield record;
    }
  }

  add(record: TaskRecord): void {
    this.#byId.set(record.taskId, record);
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
    if (record.closed) ended.add(record);
    else waiting.add(record);
  }

  #holderOf({ owner }: TaskRecord): Holder {
    return this.#holders.of(subjectOf(owner));
  }

  #isOver(record: TaskRecord): boolean {
    return record.closed && record.statusAt + this.#limits.keptTasksMs <= this.#now();
  }

  #expire(): void {
    const now = this.#now();
    if (now < this.#expireAt) return;
    this.#expireAt = now + EXPIRE_EVERY_MS;
    for (const { ended } of this.#holders.all) {
      for (let { oldest } = ended; oldest !== undefined && this.#isOver(oldest); oldest = ended.oldest) this.#evict(oldest);
    }
  }

  #evict(record: TaskRecord): void {
    const holder = this.#holderOf(record);
    if (record.closed) holder.ended.remove(record);
    else holder.waiting.remove(record);
    this.#byId.delete(record.taskId);
    this.#bytes -= record.bytes;
    this.#holders.count(holder, -1, -record.bytes);
    this.#evicted(record);
    record.notify();
  }
}
