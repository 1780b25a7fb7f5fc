import type { TaskRecord } from "./task-record.js";

/**
 * Tasks without a holder, longest idle first. Linked, because removing the first key of a Map repeatedly
 * gets slower each time. A record is in one list at a time.
 */
export class IdleList {
  #oldest: TaskRecord | undefined;
  #newest: TaskRecord | undefined;

  get oldest(): TaskRecord | undefined {
    return this.#oldest;
  }

  add(record: TaskRecord): void {
    record.older = this.#newest;
    record.newer = undefined;
    if (this.#newest !== undefined) this.#newest.newer = record;
    else this.#oldest = record;
    this.#newest = record;
  }

  remove(record: TaskRecord): void {
    const { older, newer } = record;
    if (older !== undefined) older.newer = newer;
    else this.#oldest = newer;
    if (newer !== undefined) newer.older = older;
    else this.#newest = older;
    record.older = undefined;
    record.newer = undefined;
  }
}
