import type { Maybe } from "../../envelope/index.js";

/** The place of an item in one list. */
export class ListPlace<T> {
  before: Maybe<T>;
  after: Maybe<T>;
  isTaken = false;
}

/**
 * Items in order, linked by places that they have themselves. Moving one allocates nothing: a Map or Set as a queue makes a new table for
 * every few thousand moves, and the dropped tables keep each other alive until a full collection.
 */
export class LinkedList<T> {
  readonly #placeOf: (item: T) => ListPlace<T>;
  #first: Maybe<T>;
  #last: Maybe<T>;

  constructor(placeOf: (item: T) => ListPlace<T>) {
    this.#placeOf = placeOf;
  }

  get first(): Maybe<T> {
    return this.#first;
  }

  has(item: T): boolean {
    return this.#placeOf(item).isTaken;
  }

  append(item: T): void {
    const place = this.#placeOf(item);
    place.before = this.#last;
    place.isTaken = true;
    if (this.#last === undefined) this.#first = item;
    else this.#placeOf(this.#last).after = item;
    this.#last = item;
  }

  remove(item: T): void {
    const place = this.#placeOf(item);
    if (!place.isTaken) return;
    const { before, after } = place;
    if (before === undefined) this.#first = after;
    else this.#placeOf(before).after = after;
    if (after === undefined) this.#last = before;
    else this.#placeOf(after).before = before;
    // A removed item must not keep its neighbours alive.
    place.before = undefined;
    place.after = undefined;
    place.isTaken = false;
  }

  *newestFirst(): Generator<T, void, void> {
    for (let item = this.#last; item !== undefined; item = this.#placeOf(item).before) yield item;
  }
}
