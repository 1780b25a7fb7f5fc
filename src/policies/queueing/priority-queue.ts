import type { Maybe } from "../../envelope/index.js";

/** An entry of the queue. `index` is managed by the queue. */
export interface QueueEntry {
  /** Smaller goes first. */
  readonly rank: number;
  /** Decides between equal ranks. */
  readonly arrival: number;
  index: number;
}

/** A binary heap with index tracking: `join`, `next` and `leave` are O(log n). */
export class PriorityQueue<T extends QueueEntry> {
  readonly #heap: T[] = [];

  get length(): number {
    return this.#heap.length;
  }

  join(one: T): void {
    one.index = this.#heap.length;
    this.#heap.push(one);
    this.#rise(one);
  }

  /** Removes and returns the first entry. */
  next(): Maybe<T> {
    const first = this.#heap[0];
    if (first !== undefined) this.leave(first);
    return first;
  }

  leave(one: T): void {
    if (this.#heap[one.index] !== one) return;
    const last = this.#heap.pop();
    if (last === undefined || last === one) return;
    this.#put(last, one.index);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(one: T): void {
    while (one.index > 0) {
      const above = this.#heap[(one.index - 1) >> 1];
      if (above === undefined || !isBefore(one, above)) return;
      this.#swap(one, above);
    }
  }

  #sink(one: T): void {
    for (;;) {
      const left = this.#heap[one.index * 2 + 1];
      const right = this.#heap[one.index * 2 + 2];
      const first = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (first === undefined || !isBefore(first, one)) return;
      this.#swap(first, one);
    }
  }

  #swap(a: T, b: T): void {
    const index = a.index;
    this.#put(a, b.index);
    this.#put(b, index);
  }

  #put(one: T, index: number): void {
    one.index = index;
    this.#heap[index] = one;
  }
}

function isBefore(a: QueueEntry, b: QueueEntry): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.arrival < b.arrival);
}
