import type { TaskRecord } from "./task-record.js";

/**
 * Tasks without a holder, longest idle first. Linked, because removing the first key of a Map repeatedly
 * gets slower each time.
 */
export class IdleList {
  readonly #older: "older" | "endedBefore";
  readonly #newer: "newer" | "endedAfter";
  #oldest: TaskRecord | undefined;
  #newest: TaskRecord | undefined;

  /** The members of a record that link it: it may be in two lists. */
  constructor(older: "older" | "endedBefore", newer: "newer" | "endedAfter") {
    this.#older = older;
    this.#newer = newer;
  }

  get oldest(): TaskRecord | undefined {
    return this.#oldest;
  }

  add(record: TaskRecord): void {
    record[this.#older] = this.#newest;
    record[this.#newer] = undefined;
    if (this.#newest !== undefined) this.#newest[this.#newer] = record;
    else this.#oldest = record;
    this.#newest = record;
  }

  remove(record: TaskRecord): void {
    const older = record[this.#older];
    const newer = record[this.#newer];
    if (older !== undefined) older[this.#newer] = newer;
    else this.#oldest = newer;
    if (newer !== undefined) newer[this.#older] = older;
    else this.#newest = older;
    record[this.#older] = undefined;
    record[this.#newer] = undefined;
  }
}
