import { hashOf, mixed, rotated } from "./hash.js";

/** Four words of 32 bits, not all of them zero. */
export type RandomState = readonly [number, number, number, number];

const GOLDEN = 0x9e3779b9;
const TWO_TO_26 = 2 ** 26;
const TWO_TO_52 = 2 ** 52;

/** Reproducible random numbers: xoshiro128** of Blackman and Vigna, in integers only, so that it is the same on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor([a, b, c, d]: RandomState) {
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }

  /** An unsigned 32-bit integer. */
  word(): number {
    const result = Math.imul(rotated(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotated(this.#d, 11);
    return result;
  }

  /** Between 0 and 1, both excluded: 52 bits and a half, which a double holds exactly. */
  fraction(): number {
    const high = this.word() >>> 6;
    const low = this.word() >>> 6;
    return (high * TWO_TO_26 + low + 0.5) / TWO_TO_52;
  }
}

/** The random stream for these words: the same words always give the same one. */
export function randomFor(words: readonly string[]): Random {
  const [first, second] = hashOf(JSON.stringify(words));
  const third = mixed(first + rotated(second, 16) + GOLDEN);
  // Odd, so that the state is never all zero.
  const fourth = mixed(second + rotated(first, 16) + GOLDEN) | 1;
  return new Random([first, second, third, fourth]);
}
