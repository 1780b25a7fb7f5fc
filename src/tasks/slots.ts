import type { Maybe } from "../envelope/index.js";

/** Knows its place among the others. */
export interface Slotted {
  /** Undefined if it is not among them. */
  slot: Maybe<number>;
}

/**
 * What is active at this moment, in no order. A map or a set would be hashed and rehashed for every call, and keep what it held from the
 * garbage collector: the tables that it outgrew are linked to their successors.
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
