import { shares } from "../src/router/evidence/shares.js";

const EPOCHS = 12;
const SEEDS = [1, 2, 3, 4];
const RATE = 0.5;
const DECAY = 1e-5;
/** A sentence as its marks, and the class it belongs to. */
export interface Lesson {
  readonly marks: readonly string[];
  readonly right: number;
}

export interface Learned {
  /** In alphabetical order. */
  readonly marks: readonly string[];
  /** For each mark, its weight in each class. */
  readonly weights: Float64Array;
  readonly biases: Float64Array;
}

export interface Course {
  readonly classes: number;
  /** The minimum number of sentences with a feature: fewer are chance. */
  readonly sentences: number;
}

/**
 * Multinomial logistic regression with a rate per weight (Adagrad). Sums, products and square roots only: the same bits
 * everywhere. What is learned depends a little on the order of the lessons, so they are taken in several orders, each from the
 * beginning, and the mean over all rounds of all orders is kept.
 */
export function learn(lessons: readonly Lesson[], { classes, sentences }: Course): Learned {
  const marks = marksWorthLearning(lessons, sentences);
  const place = new Map(marks.map((mark, index) => [mark, index]));
  const inputs = lessons.map((lesson) => Int32Array.from(lesson.marks.flatMap((mark) => place.get(mark) ?? [])));
  const mean = { weights: new Float64Array(marks.length * classes), biases: new Float64Array(classes) };
  for (const seed of SEEDS) {
    const pupil = new Pupil(marks.length, classes);
    const order = lessons.map((_, index) => index);
    const random = randomNumbers(seed);
    for (let epoch = 0; epoch < EPOCHS; epoch++) {
      shuffle(order, random);
      for (const index of order) pupil.take(inputs[index] ?? new Int32Array(), lessons[index]?.right ?? 0);
      addTo(mean.weights, pupil.weights.values, 1 / (EPOCHS * SEEDS.length));
      addTo(mean.biases, pupil.biases.values, 1 / (EPOCHS * SEEDS.length));
    }
  }
  return { marks, ...mean };
}

/** Numbers that move less, each by itself, the more they have moved (Adagrad). */
export class Moving {
  readonly values: Float64Array;
  readonly #moved: Float64Array;

  constructor(count: number) {
    this.values = new Float64Array(count);
    this.#moved = new Float64Array(count).fill(1e-3);
  }

  move(at: number, change: number, rate: number): void {
    const moved = (this.#moved[at] ?? 0) + change * change;
    this.#moved[at] = moved;
    this.values[at] = (this.values[at] ?? 0) - (rate * change) / Math.sqrt(moved);
  }
}

/** Weights that are being learned. */
class Pupil {
  readonly weights: Moving;
  readonly biases: Moving;
  readonly #classes: number;
  readonly #scores: Float64Array;

  constructor(marks: number, classes: number) {
    this.weights = new Moving(marks * classes);
    this.biases = new Moving(classes);
    this.#classes = classes;
    this.#scores = new Float64Array(classes);
  }

  take(input: Int32Array, right: number): void {
    const value = 1 / Math.sqrt(Math.max(input.length, 1));
    const slopes = this.#guess(input, value);
    slopes[right] = (slopes[right] ?? 0) - 1;
    for (let each = 0; each < this.#classes; each++) {
      const slope = slopes[each] ?? 0;
      this.biases.move(each, slope, RATE);
      for (const mark of input) {
        const at = mark * this.#classes + each;
        this.weights.move(at, slope * value + DECAY * (this.weights.values[at] ?? 0), RATE);
      }
    }
  }

  #guess(input: Int32Array, value: number): Float64Array {
    for (let each = 0; each < this.#classes; each++) {
      let score = this.biases.values[each] ?? 0;
      for (const mark of input) score += (this.weights.values[mark * this.#classes + each] ?? 0) * value;
      this.#scores[each] = score;
    }
    return shares(this.#scores);
  }
}

function addTo(sum: Float64Array, values: Float64Array, part: number): void {
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (values[at] ?? 0) * part;
}

function marksWorthLearning(lessons: readonly Lesson[], sentences: number): readonly string[] {
  const sentencesWith = new Map<string, number>();
  for (const { marks } of lessons) for (const mark of marks) sentencesWith.set(mark, (sentencesWith.get(mark) ?? 0) + 1);
  return [...sentencesWith]
    .filter(([, count]) => count >= sentences)
    .map(([mark]) => mark)
    .sort();
}

/** For the order of lessons no better generator is needed. */
export function* randomNumbers(seed: number): Generator<number, never> {
  let state = seed >>> 0;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Puts the lessons into another order. */
export function shuffle(order: number[], random: Generator<number, never>): void {
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random.next().value * (last + 1));
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
}
