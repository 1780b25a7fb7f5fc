import type { Maybe } from "./json.js";

/** Knows its place among the others. */
export interface Slotted {
  /** Undefined if it is not among them. */
  slot: Maybe<number>;
}

/**
 * What is active at this moment, in no order. A map or a set whose members come and go all the time is given a new table every few of
 * them, and each old table keeps what was in it, and its successor, until a full garbage collection: nearly everything that such members
 * hold is promoted then, and every scavenge takes longer.
 */
export class Slots<T extends Slotted> {
  readonly #all: T[] = [];

  get all(): readonly T[] {
    return this.#all;
  }

  add(one: T): void {
    one.slot = this.#all.push(one) - 1;
  }

  /** False if it was not there. */
  remove(one: T): boolean {
    const { slot } = one;
    if (slot === undefined) return false;
    one.slot = undefined;
    // The last one takes its place.
    const last = this.#all.pop();
    if (last !== undefined && last !== one) {
      this.#all[slot] = last;
      last.slot = slot;
    }
    return true;
  }
}
