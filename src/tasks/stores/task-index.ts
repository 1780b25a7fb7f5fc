import type { TaskLimits } from "../limits.js";
import { IdleList } from "./idle-list.js";
import type { TaskRecord } from "./task-record.js";

/** All records of the memory store, indexed by id and owner, bounded in number, bytes and age. */
export class TaskIndex {
  readonly #byId = new Map<string, TaskRecord>();
  readonly #byOwner = new Map<string, Set<TaskRecord>>();
  readonly #ended = new IdleList();
  readonly #waiting = new IdleList();
  readonly held = new Set<TaskRecord>();
  readonly #limits: TaskLimits;
  readonly #now: () => number;
  readonly #evicted: (record: TaskRecord) => void;
  #bytes = 0;

  constructor(limits: TaskLimits, now: () => number, evicted: (record: TaskRecord) => void) {
    this.#limits = limits;
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
    if (record.holder !== undefined) this.held.add(record);
    else this.#idle(record).add(record);
  }

  /** Makes room for `bytes` and `tasks` more: evicts the oldest finished tasks first, then the oldest interrupted ones. */
  hasRoom(bytes: number, tasks: 0 | 1): boolean {
    this.#expire();
    while (this.#byId.size + tasks > this.#limits.keptTasks || this.#bytes + bytes > this.#limits.keptBytes) {
      const oldest = this.#ended.oldest ?? this.#waiting.oldest;
      if (oldest === undefined) return false;
      this.#evict(oldest);
    }
    return true;
  }

  grow(record: TaskRecord, bytes: number): void {
    record.bytes += bytes;
    this.#bytes += bytes;
  }

  /** The turn is over: the task may now be evicted. */
  rest(record: TaskRecord): void {
    this.held.delete(record);
    this.#idle(record).add(record);
  }

  /** The task runs again. Call before its state changes. */
  activate(record: TaskRecord): void {
    this.#idle(record).remove(record);
    this.held.add(record);
  }

  /** Closes an interrupted task. */
  closeResting(record: TaskRecord, close: () => void): void {
    this.#waiting.remove(record);
    close();
    this.#ended.add(record);
  }

  #idle(record: TaskRecord): IdleList {
    return record.closed ? this.#ended : this.#waiting;
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
    this.#idle(record).remove(record);
    this.#byId.delete(record.taskId);
    this.#bytes -= record.bytes;
    const own = this.#byOwner.get(record.owner);
    own?.delete(record);
    if (own?.size === 0) this.#byOwner.delete(record.owner);
    this.#evicted(record);
    record.notify();
  }
}
