import type { MarkList } from "./weights.js";

/** The number of an unknown word, and the place of a feature that the model does not have. */
export const UNKNOWN = -1;

/** How far the second word of a feature is from its first. */
type Distance = 1 | 2;

/** Odd, and without a pattern in their bits. */
const [MIX_FIRST, MIX_SECOND] = [0x9e3779b1, 0x85ebca6b];
/** At most this share of the slots is taken, so that searches stay short. */
const LOAD = 0.5;

/**
 * The features of a model by the numbers of their words. A word is looked up as text once; its features with other words are found by
 * numbers, in a hash table of typed arrays: thousands of small maps would cost more time to build and to ask.
 */
export class MarkTable {
  /** The number of features. */
  readonly size: number;
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #ones: number;
  /** By word: the place of the feature of this word at the beginning of a text. */
  readonly #first: Int32Array;
  readonly #beginnings: ReadonlyMap<string, number>;
  /** Of two words: both numbers, the second with the distance, and the place plus one; 0 is a free slot. */
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** The place of a feature is its position in the list, one kind after the other. */
  constructor({ words, ones, firsts, beginnings, pairs, apart }: MarkList) {
    this.#numbers = numbered(words, 0);
    this.#ones = ones;
    this.#first = new Int32Array(this.#numbers.size).fill(UNKNOWN);
    for (let index = 0; index < firsts.length; index++) this.#first[firsts[index] ?? 0] = ones + index;
    this.#beginnings = numbered(beginnings, ones + firsts.length);
    const two = (pairs.length + apart.length) / 2;
    // All ones, as wide as the largest place: no logarithm, which is inexact.
    this.#mask = 2 ** (32 - Math.clz32(Math.ceil(Math.max(1, two) / LOAD) - 1)) - 1;
    this.#slots = new Int32Array(3 * (this.#mask + 1));
    const single = ones + firsts.length + this.#beginnings.size;
    this.#put(pairs, 1, single);
    this.#put(apart, 2, single + pairs.length / 2);
    this.size = single + two;
  }

  numberOf(word: string): number {
    return this.#numbers.get(word) ?? UNKNOWN;
  }

  /** Words that are features by themselves come first. */
  one(word: number): number {
    return word < this.#ones ? word : UNKNOWN;
  }

  first(word: number): number {
    return this.#first[word] ?? UNKNOWN;
  }

  beginning(prefix: string): number {
    return this.#beginnings.get(prefix) ?? UNKNOWN;
  }

  two(first: number, second: number, distance: Distance): number {
    if (first === UNKNOWN || second === UNKNOWN) return UNKNOWN;
    return (this.#slots[this.#slotOf(first, 2 * second + distance - 1) + 2] ?? 0) - 1;
  }

  #put(numbers: readonly number[], distance: Distance, firstPlace: number): void {
    const slots = this.#slots;
    for (let index = 0, place = firstPlace; index < numbers.length; index += 2) {
      const first = numbers[index] ?? 0;
      const second = 2 * (numbers[index + 1] ?? 0) + distance - 1;
      const slot = this.#slotOf(first, second);
      slots[slot] = first;
      slots[slot + 1] = second;
      slots[slot + 2] = ++place;
    }
  }

  /** The slot of two words, or the free one where they belong. */
  #slotOf(first: number, second: number): number {
    const slots = this.#slots;
    const mixed = Math.imul(first, MIX_FIRST) ^ Math.imul(second, MIX_SECOND);
    for (let at = (mixed ^ (mixed >>> 15)) & this.#mask; ; at = (at + 1) & this.#mask) {
      const slot = 3 * at;
      if (slots[slot + 2] === 0 || (slots[slot] === first && slots[slot + 1] === second)) return slot;
    }
  }
}

/** Each of a list by its position, counted from `from`. */
function numbered(list: string, from: number): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  if (list !== "") for (const each of list.split("|")) numbers.set(each, from + numbers.size);
  return numbers;
}
