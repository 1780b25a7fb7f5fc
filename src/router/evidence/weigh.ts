import type { Word } from "../text/words.js";
import { MarkTable, UNKNOWN } from "./mark-table.js";
import { beginningOf, type MarkSink } from "./marks.js";
import { shares } from "./shares.js";
import type { Learned } from "./weights.js";

/** The result of applying a model to a text. */
export interface Weighed {
  /** The probability of each class; they sum to one. */
  readonly shares: Float64Array;
  /** The contribution of each of `count` words to one class. */
  wordsFor(chosen: number, count: number): Float64Array;
}

/** Words from one to another, exclusive. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** How the position of a feature is written: with the distance of its second word, or as that of a text's first word. */
const KINDS = 4;
const FIRST = 3;

/** Features of a usual text; a longer one makes room for itself. */
const ROOM = 512;

/** The features of a text that the model knows, word by word. */
export interface Found {
  /** Where each is in the model. */
  readonly places: readonly number[];
  /** `KINDS` times the position, plus the kind. */
  readonly positions: readonly number[];
}

/** A logistic regression. The same bits on every machine: sums, products and square roots only. */
export class Scales {
  readonly #learned: Learned;
  /** Built when the first text is read, not when the module is loaded. */
  #table: MarkTable | undefined;
  /** The weights in steps. */
  #steps: Int16Array | undefined;
  /** The mean weight of each feature, once it was needed. */
  #means: Float64Array | undefined;
  /** For each feature, the last text in which it was counted: each counts once. */
  #countedIn: Int32Array | undefined;
  #texts = 0;
  /** The features of the text that is being weighed. Used again for the next one: lists of their own were a third of all garbage. */
  #places = new Int32Array(ROOM);
  #positions = new Int32Array(ROOM);

  constructor(learned: Learned) {
    this.#learned = learned;
  }

  /** The number that this model has for a word, by its lemma. */
  numberOf(lemma: string): number {
    return this.#marks().numberOf(lemma);
  }

  /** The features that `visit` names, of words with these numbers. */
  find(words: readonly Word[], numbers: readonly number[], visit: (sink: MarkSink) => void): Found {
    const table = this.#marks();
    const found = { places: [] as number[], positions: [] as number[] };
    const put = (place: number, position: number): void => {
      if (place === UNKNOWN) return;
      found.places.push(place);
      found.positions.push(position);
    };
    const numberAt = (at: number): number => numbers[at] ?? UNKNOWN;
    visit({
      first: (at) => put(table.first(numberAt(at)), KINDS * at + FIRST),
      one: (at) => put(table.one(numberAt(at)), KINDS * at),
      beginning: (at) => put(words[at] === undefined ? UNKNOWN : table.beginning(beginningOf(words[at])), KINDS * at),
      pair: (at) => put(table.two(numberAt(at), numberAt(at + 1), 1), KINDS * at + 1),
      apart: (at) => put(table.two(numberAt(at), numberAt(at + 2), 2), KINDS * at + 2),
    });
    return found;
  }

  /** Weighs the features within a range of words; each counts once. Without `phrases`, only those of one word. */
  weigh(found: readonly Found[], range: Range, phrases = true): Weighed {
    const { biases, step } = this.#learned;
    const count = this.#choose(found, range, phrases);
    const [steps, places, classes] = [this.#allSteps(), this.#places, biases.length];
    const scale = 1 / Math.sqrt(Math.max(count, 1));
    const sums = new Float64Array(classes);
    for (let index = 0; index < count; index++) {
      const offset = (places[index] ?? 0) * classes;
      for (let each = 0; each < classes; each++) sums[each] = (sums[each] ?? 0) + (steps[offset + each] ?? 0) * step;
    }
    for (let each = 0; each < classes; each++) sums[each] = (biases[each] ?? 0) + (sums[each] ?? 0) * scale;
    return {
      shares: shares(sums, sums),
      wordsFor: (chosen, words) => {
        const parts = new Float64Array(words);
        this.#contribute(this.#choose(found, range, phrases), { chosen, from: range.from }, parts);
        return parts;
      },
    };
  }

  knows(number: number): boolean {
    return this.#marks().one(number) !== UNKNOWN;
  }

  /** Whether this word alone has at least this weight for one of the first classes. */
  isTelling(word: string, classes: number, least: number): boolean {
    return this.#hasWeight(this.#marks().one(this.numberOf(word)), classes, least);
  }

  /** The same for the prefix of a word. */
  isTellingBeginning(prefix: string, classes: number, least: number): boolean {
    return this.#hasWeight(this.#marks().beginning(prefix), classes, least);
  }

  #hasWeight(place: number, classes: number, least: number): boolean {
    if (place === UNKNOWN) return false;
    const offset = place * this.#learned.biases.length;
    for (let each = 0; each < classes; each++) if (this.#weightAt(offset + each) >= least) return true;
    return false;
  }

  /** Writes the features that count to `#places` and `#positions`, and returns their number. Few are asked for twice: none is kept. */
  #choose(found: readonly Found[], { from, to }: Range, phrases: boolean): number {
    const counted = this.#counted();
    const text = ++this.#texts;
    let count = 0;
    for (const { places, positions } of found) {
      this.#makeRoom(count + places.length);
      for (let index = firstAt(positions, from); index < places.length; index++) {
        const place = places[index] ?? 0;
        const position = positions[index] ?? 0;
        const at = Math.floor(position / KINDS);
        if (at >= to) break;
        const kind = position % KINDS;
        const isPhrase = kind === 1 || kind === 2;
        if ((isPhrase && (!phrases || at + kind >= to)) || (kind === FIRST && at !== from)) continue;
        if (counted[place] === text) continue;
        counted[place] = text;
        this.#places[count] = place;
        this.#positions[count++] = position;
      }
    }
    return count;
  }

  #makeRoom(features: number): void {
    if (features <= this.#places.length) return;
    const [places, positions] = [this.#places, this.#positions];
    this.#places = new Int32Array(2 * features);
    this.#positions = new Int32Array(2 * features);
    this.#places.set(places);
    this.#positions.set(positions);
  }

  #contribute(count: number, { chosen, from }: { readonly chosen: number; readonly from: number }, parts: Float64Array): void {
    const classes = this.#learned.biases.length;
    for (let index = 0; index < count; index++) {
      const place = this.#places[index] ?? 0;
      const position = this.#positions[index] ?? 0;
      const at = Math.floor(position / KINDS) - from;
      const kind = position % KINDS;
      const ahead = this.#weightAt(place * classes + chosen) - this.#meanAt(place);
      const isPhrase = kind === 1 || kind === 2;
      parts[at] = (parts[at] ?? 0) + (isPhrase ? ahead / 2 : ahead);
      if (isPhrase) parts[at + kind] = (parts[at + kind] ?? 0) + ahead / 2;
    }
  }

  #marks(): MarkTable {
    this.#table ??= new MarkTable(this.#learned.marks.split("|"));
    return this.#table;
  }

  #counted(): Int32Array {
    this.#countedIn ??= new Int32Array(this.#learned.weights.length / this.#learned.biases.length);
    // Numbers of texts are used once, up to the highest that an entry holds.
    if (this.#texts === 0x7fffffff) {
      this.#countedIn.fill(0);
      this.#texts = 0;
    }
    return this.#countedIn;
  }

  #allSteps(): Int16Array {
    if (this.#steps === undefined) {
      const { weights, zero } = this.#learned;
      this.#steps = new Int16Array(weights.length);
      for (let index = 0; index < weights.length; index++) this.#steps[index] = weights.charCodeAt(index) - zero;
    }
    return this.#steps;
  }

  #weightAt(offset: number): number {
    return (this.#allSteps()[offset] ?? 0) * this.#learned.step;
  }

  #meanAt(place: number): number {
    const classes = this.#learned.biases.length;
    this.#means ??= new Float64Array(this.#learned.weights.length / classes).fill(Number.NaN);
    const known = this.#means[place] ?? Number.NaN;
    if (!Number.isNaN(known)) return known;
    let sum = 0;
    for (let each = 0; each < classes; each++) sum += this.#weightAt(place * classes + each);
    this.#means[place] = sum / classes;
    return sum / classes;
  }
}

/** The first feature at this word or after it: a text has many ranges, and each reads its own features only. */
function firstAt(positions: readonly number[], word: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] ?? 0) < KINDS * word) low = middle + 1;
    else high = middle;
  }
  return low;
}
