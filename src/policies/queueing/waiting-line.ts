import type { Maybe } from "../../envelope/index.js";

/** One who waits. Its place in the line is the line's own business. */
export interface InLine {
  /** Smaller goes first. */
  readonly rank: number;
  /** Decides between equal ranks. */
  readonly arrival: number;
  place: number;
}

/** A heap in which everybody knows their place: joining, the next one's turn and leaving cost a logarithm. */
export class WaitingLine<T extends InLine> {
  readonly #heap: T[] = [];

  get length(): number {
    return this.#heap.length;
  }

  join(one: T): void {
    one.place = this.#heap.length;
    this.#heap.push(one);
    this.#rise(one);
  }

  /** Takes out whose turn it is. */
  next(): Maybe<T> {
    const first = this.#heap[0];
    if (first !== undefined) this.leave(first);
    return first;
  }

  leave(one: T): void {
    if (this.#heap[one.place] !== one) return;
    const last = this.#heap.pop();
    if (last === undefined || last === one) return;
    this.#put(last, one.place);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(one: T): void {
    while (one.place > 0) {
      const above = this.#heap[(one.place - 1) >> 1];
      if (above === undefined || !isBefore(one, above)) return;
      this.#swap(one, above);
    }
  }

  #sink(one: T): void {
    for (;;) {
      const left = this.#heap[one.place * 2 + 1];
      const right = this.#heap[one.place * 2 + 2];
      const first = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (first === undefined || !isBefore(first, one)) return;
      this.#swap(first, one);
    }
  }

  #swap(a: T, b: T): void {
    const place = a.place;
    this.#put(a, b.place);
    this.#put(b, place);
  }

  #put(one: T, place: number): void {
    one.place = place;
    this.#heap[place] = one;
  }
}

function isBefore(a: InLine, b: InLine): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.arrival < b.arrival);
}
