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
    const scores = biases.map((bias, each) => {
      let sum = 0;
      for (const { offset } of known) sum += this.#weightAt(offset + each);
      return bias + sum * scale;
    });
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
    const { weights, zero, step } = this.#learned;
    return (weights.charCodeAt(offset) - zero) * step;
  }

  #meanAt(offset: number): number {
    let sum = 0;
    for (let each = 0; each < this.#learned.biases.length; each++) sum += this.#weightAt(offset + each);
    return sum / this.#learned.biases.length;
  }
}
