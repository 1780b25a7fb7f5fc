import { type MarkSink, MarkTable } from "./marks.js";
import { shares } from "./shares.js";
import type { Learned } from "./weights.js";

/** The result of applying a model to a text. */
export interface Weighed {
  /** The probability of each class; they sum to one. */
  readonly shares: Float64Array;
  /** The contribution of each of `count` words to one class. */
  wordsFor(chosen: number, count: number): Float64Array;
}

/** A feature of the text that the model knows. */
interface Known {
  /** Where its weights are. */
  readonly offset: number;
  readonly at: number;
  /** How far its second word is from the first; 0 if it has one. */
  readonly apart: number;
}

/** A logistic regression. The same bits on every machine: sums, products and square roots only. */
export class Scales {
  readonly #learned: Learned;
  /** Built when the first text is read, not when the module is loaded. */
  #table: MarkTable | undefined;
  /** The weights in steps. */
  #steps: Int16Array | undefined;

  constructor(learned: Learned) {
    this.#learned = learned;
  }

  /** Weighs the features that `visit` names; each counts once. Without `phrases`, only those of one word. */
  weigh(visit: (sink: MarkSink) => void, phrases = true): Weighed {
    const { biases, step } = this.#learned;
    const known = this.#knownIn(visit, phrases);
    const steps = this.#allSteps();
    const scale = 1 / Math.sqrt(Math.max(known.length, 1));
    const sums = new Float64Array(biases.length);
    for (const { offset } of known)
      for (let each = 0; each < sums.length; each++) sums[each] = (sums[each] ?? 0) + (steps[offset + each] ?? 0) * step;
    return {
      shares: shares(biases.map((bias, each) => bias + (sums[each] ?? 0) * scale)),
      wordsFor: (chosen, count) => {
        const parts = new Float64Array(count);
        for (const { offset, at, apart } of known) {
          const ahead = this.#weightAt(offset + chosen) - this.#meanAt(offset);
          for (const index of apart === 0 ? [at] : [at, at + apart])
            parts[index] = (parts[index] ?? 0) + ahead / (apart === 0 ? 1 : 2);
        }
        return parts;
      },
    };
  }

  knows(mark: string): boolean {
    return this.#marks().one(mark) !== undefined;
  }

  /** Whether this feature alone has at least this weight for one of the first classes. */
  isTelling(mark: string, classes: number, least: number): boolean {
    const index = this.#marks().one(mark);
    if (index === undefined) return false;
    const offset = index * this.#learned.biases.length;
    for (let each = 0; each < classes; each++) if (this.#weightAt(offset + each) >= least) return true;
    return false;
  }

  #knownIn(visit: (sink: MarkSink) => void, phrases: boolean): readonly Known[] {
    const table = this.#marks();
    const classes = this.#learned.biases.length;
    const found = new Set<number>();
    const known: Known[] = [];
    const put = (index: number | undefined, at: number, apart: number): void => {
      if (index === undefined || found.has(index)) return;
      found.add(index);
      known.push({ offset: index * classes, at, apart });
    };
    visit({
      one: (mark, at) => put(table.one(mark), at, 0),
      pair: (first, second, at) => (phrases ? put(table.pair(first, second), at, 1) : undefined),
      apart: (first, second, at) => (phrases ? put(table.apart(first, second), at, 2) : undefined),
    });
    return known;
  }

  #marks(): MarkTable {
    this.#table ??= new MarkTable(this.#learned.marks.split("|"));
    return this.#table;
  }

  #allSteps(): Int16Array {
    const { weights, zero } = this.#learned;
    this.#steps ??= Int16Array.from({ length: weights.length }, (_, index) => weights.charCodeAt(index) - zero);
    return this.#steps;
  }

  #weightAt(offset: number): number {
    return (this.#allSteps()[offset] ?? 0) * this.#learned.step;
  }

  #meanAt(offset: number): number {
    let sum = 0;
    for (let each = 0; each < this.#learned.biases.length; each++) sum += this.#weightAt(offset + each);
    return sum / this.#learned.biases.length;
  }
}
