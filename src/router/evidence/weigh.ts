import type { Mark } from "./marks.js";
import { shares } from "./shares.js";
import type { Learned } from "./weights.js";

/** The result of applying a model to a text. */
export interface Weighed {
  /** The probability of each class; they sum to one. */
  readonly shares: Float64Array;
  /** The contribution of each of `count` words to one class. */
  wordsFor(chosen: number, count: number): Float64Array;
}

/** A logistic regression. The same bits on every machine: sums, products and square roots only. */
export class Scales {
  readonly #learned: Learned;
  /** Built when the first text is read, not when the module is loaded. */
  #offsets: ReadonlyMap<string, number> | undefined;

  /** The weights in steps, built with them. */
  #steps: Int16Array | undefined;

  constructor(learned: Learned) {
    this.#learned = learned;
  }

  weigh(marks: readonly Mark[]): Weighed {
    const { biases } = this.#learned;
    const known = marks.flatMap(({ mark, words }) => {
      const offset = this.#offsetOf(mark);
      return offset === undefined ? [] : [{ offset, words }];
    });
    const scale = 1 / Math.sqrt(Math.max(known.length, 1));
    const steps = this.#allSteps();
    const { step } = this.#learned;
    const sums = new Float64Array(biases.length);
    for (const { offset } of known)
      for (let each = 0; each < sums.length; each++) sums[each] = (sums[each] ?? 0) + (steps[offset + each] ?? 0) * step;
    const scores = biases.map((bias, each) => bias + (sums[each] ?? 0) * scale);
    return {
      shares: shares(scores),
      wordsFor: (chosen, count) => {
        const parts = new Float64Array(count);
        for (const { offset, words } of known) {
          const ahead = this.#weightAt(offset + chosen) - this.#meanAt(offset);
          for (const index of words) parts[index] = (parts[index] ?? 0) + ahead / words.length;
        }
        return parts;
      },
    };
  }

  knows(mark: string): boolean {
    return this.#offsetOf(mark) !== undefined;
  }

  /** Whether this feature alone has at least this weight for one of the first classes. */
  isTelling(mark: string, classes: number, least: number): boolean {
    const offset = this.#offsetOf(mark);
    if (offset === undefined) return false;
    for (let each = 0; each < classes; each++) if (this.#weightAt(offset + each) >= least) return true;
    return false;
  }

  #offsetOf(mark: string): number | undefined {
    const { marks, biases } = this.#learned;
    this.#offsets ??= new Map(marks.split("|").map((each, index) => [each, index * biases.length]));
    return this.#offsets.get(mark);
  }

  #weightAt(offset: number): number {
    return (this.#allSteps()[offset] ?? 0) * this.#learned.step;
  }

  #allSteps(): Int16Array {
    const { weights, zero } = this.#learned;
    this.#steps ??= Int16Array.from({ length: weights.length }, (_, index) => weights.charCodeAt(index) - zero);
    return this.#steps;
  }

  #meanAt(offset: number): number {
    let sum = 0;
    for (let each = 0; each < this.#learned.biases.length; each++) sum += this.#weightAt(offset + each);
    return sum / this.#learned.biases.length;
  }
}
