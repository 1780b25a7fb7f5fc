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
  readonly #numbers = new Map<string, number>();
  /** By word: the place of the feature of this word alone, and at the beginning of a text. */
  readonly #one: Int32Array;
  readonly #first: Int32Array;
  readonly #beginnings = new Map<string, number>();
  /** Of two words: both numbers, the second with the distance, and the place plus one; 0 is a free slot. */
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** In the order of the model: the place of a feature is its value. */
  constructor(marks: readonly string[]) {
    this.#one = new Int32Array(2 * marks.length).fill(UNKNOWN);
    this.#first = new Int32Array(2 * marks.length).fill(UNKNOWN);
    // All ones, as wide as the largest place: no logarithm, which is inexact.
    this.#mask = 2 ** (32 - Math.clz32(Math.ceil(Math.max(1, marks.length) / LOAD) - 1)) - 1;
    this.#slots = new Int32Array(3 * (this.#mask + 1));
    for (const [place, mark] of marks.entries()) this.#put(mark, place);
  }

  numberOf(word: string): number {
    return this.#numbers.get(word) ?? UNKNOWN;
  }

  one(word: number): number {
    return this.#one[word] ?? UNKNOWN;
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

  #put(mark: string, place: number): void {
    const space = mark.indexOf(" ");
    if (space >= 0) {
      const [distance, rest]: [Distance, number] = mark.startsWith("_ ", space + 1) ? [2, space + 3] : [1, space + 1];
      const [first, second] = [this.#add(mark.slice(0, space)), 2 * this.#add(mark.slice(rest)) + distance - 1];
      this.#slots.set([first, second, place + 1], this.#slotOf(first, second));
    } else if (mark.endsWith("*")) this.#beginnings.set(mark.slice(0, -1), place);
    else if (mark.startsWith("^")) this.#first[this.#add(mark.slice(1))] = place;
    else this.#one[this.#add(mark)] = place;
  }

  #add(word: string): number {
    let number = this.#numbers.get(word);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(word, number);
    }
    return number;
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
