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
const [KIND_BITS, KIND_MASK] = [2, 3];
const FIRST = 3;

/** Features of a usual text; a longer one makes room for itself. */
const ROOM = 512;

/** The features of a text that the model knows, word by word. */
export interface Found {
  /** Where each is in the model. */
  readonly places: readonly number[];
  /** The position, shifted by `KIND_BITS`, with the kind. */
  readonly positions: readonly number[];
}

/** A logistic regression. The same bits on every machine: sums, products and square roots only. */
export class Scales {
  readonly #learned: Learned;
  readonly #table: MarkTable;
  /** The characters of the weights, which are ASCII: one byte each. */
  readonly #characters: Uint8Array;
  /** For each class, the sum of the steps of the features that are weighed. Whole numbers, so the order of features has no effect. */
  readonly #sums: Int32Array;
  /** The mean weight of each feature, once it was needed. */
  readonly #means: Float64Array;
  /** For each feature, the last text in which it was counted: each counts once. */
  readonly #countedIn: Int32Array;
  #texts = 0;
  /** The features of the text that is being weighed. Used again for the next one: lists of their own were a third of all garbage. */
  #chosen = { places: new Int32Array(ROOM), positions: new Int32Array(ROOM) };
  readonly #finder: Finder;

  constructor(learned: Learned) {
    this.#learned = learned;
    this.#table = new MarkTable(learned.marks);
    this.#characters = new TextEncoder().encode(learned.weights);
    this.#sums = new Int32Array(learned.biases.length);
    this.#means = new Float64Array(this.#table.size).fill(Number.NaN);
    this.#countedIn = new Int32Array(this.#table.size);
    this.#finder = new Finder(this.#table);
  }

  /** The number of features. */
  get size(): number {
    return this.#table.size;
  }

  /** The number that this model has for a word, by its lemma. */
  numberOf(lemma: string): number {
    return this.#table.numberOf(lemma);
  }

  /** The features that `visit` names, of words with these numbers. */
  find(words: readonly Word[], numbers: readonly number[], visit: (sink: MarkSink) => void): Found {
    this.#finder.begin(words, numbers);
    visit(this.#finder);
    return this.#finder.found();
  }

  /** Weighs the features within a range of words; each counts once. Without `phrases`, only those of one word. */
  weigh(found: readonly Found[], range: Range, phrases = true): Weighed {
    const { biases, step, zero } = this.#learned;
    const count = this.#choose(found, range, phrases);
    const [characters, places, sums, classes] = [this.#characters, this.#chosen.places, this.#sums, biases.length];
    sums.fill(-zero * count);
    for (let index = 0; index < count; index++) {
      const offset = (places[index] ?? 0) * classes;
      for (let each = 0; each < classes; each++) sums[each] = (sums[each] ?? 0) + (characters[offset + each] ?? 0);
    }
    const scale = step / Math.sqrt(Math.max(count, 1));
    const scores = new Float64Array(classes);
    for (let each = 0; each < classes; each++) scores[each] = (biases[each] ?? 0) + (sums[each] ?? 0) * scale;
    return {
      shares: shares(scores, scores),
      wordsFor: (chosen, words) => {
        const parts = new Float64Array(words);
        this.#contribute(this.#choose(found, range, phrases), { chosen, from: range.from }, parts);
        return parts;
      },
    };
  }

  knows(number: number): boolean {
    return this.placeOf(number) !== UNKNOWN;
  }

  /** The place of the feature of a word alone, by its number; `UNKNOWN` where there is none. */
  placeOf(number: number): number {
    return this.#table.one(number);
  }

  placeOfBeginning(prefix: string): number {
    return this.#table.beginning(prefix);
  }

  /** The highest weight that a feature has for one of the first classes. */
  highestWeight(place: number, classes: number): number {
    const offset = place * this.#learned.biases.length;
    let highest = Number.NEGATIVE_INFINITY;
    for (let each = 0; each < classes; each++) highest = Math.max(highest, this.#weightAt(offset + each));
    return highest;
  }

  /** Writes the features that count to `#chosen`, and returns their number. Few are asked for twice: none is kept. */
  #choose(found: readonly Found[], { from, to }: Range, phrases: boolean): number {
    const counted = this.#countedIn;
    const text = this.#nextText();
    let count = 0;
    for (const { places, positions } of found) {
      this.#makeRoom(count + places.length);
      const chosen = this.#chosen;
      for (let index = firstAt(positions, from); index < places.length; index++) {
        const place = places[index] ?? 0;
        const position = positions[index] ?? 0;
        const at = position >> KIND_BITS;
        if (at >= to) break;
        const kind = position & KIND_MASK;
        const isPhrase = kind === 1 || kind === 2;
        if ((isPhrase && (!phrases || at + kind >= to)) || (kind === FIRST && at !== from)) continue;
        if (counted[place] === text) continue;
        counted[place] = text;
        chosen.places[count] = place;
        chosen.positions[count++] = position;
      }
    }
    return count;
  }

  /** Numbers of texts are used once, up to the highest that an entry holds. */
  #nextText(): number {
    if (this.#texts === 0x7fffffff) {
      this.#countedIn.fill(0);
      this.#texts = 0;
    }
    return ++this.#texts;
  }

  #makeRoom(features: number): void {
    const { places, positions } = this.#chosen;
    if (features > places.length) this.#chosen = { places: enlarged(places, features), positions: enlarged(positions, features) };
  }

  #contribute(count: number, { chosen, from }: { readonly chosen: number; readonly from: number }, parts: Float64Array): void {
    const { places, positions } = this.#chosen;
    const classes = this.#learned.biases.length;
    for (let index = 0; index < count; index++) {
      const place = places[index] ?? 0;
      const position = positions[index] ?? 0;
      const at = (position >> KIND_BITS) - from;
      const kind = position & KIND_MASK;
      const ahead = this.#weightAt(place * classes + chosen) - this.#meanAt(place);
      const isPhrase = kind === 1 || kind === 2;
      parts[at] = (parts[at] ?? 0) + (isPhrase ? ahead / 2 : ahead);
      if (isPhrase) parts[at + kind] = (parts[at + kind] ?? 0) + ahead / 2;
    }
  }

  #weightAt(offset: number): number {
    const { zero, step } = this.#learned;
    return ((this.#characters[offset] ?? zero) - zero) * step;
  }

  #meanAt(place: number): number {
    const known = this.#means[place] ?? Number.NaN;
    if (!Number.isNaN(known)) return known;
    const classes = this.#learned.biases.length;
    let sum = 0;
    for (let each = 0; each < classes; each++) sum += this.#weightAt(place * classes + each);
    this.#means[place] = sum / classes;
    return sum / classes;
  }
}

/** Looks up the features of one text after the other. Its lists are used again: a text's own are cut to their length. */
class Finder implements MarkSink {
  readonly #table: MarkTable;
  #words: readonly Word[] = [];
  #numbers: readonly number[] = [];
  #places = new Int32Array(ROOM);
  #positions = new Int32Array(ROOM);
  #count = 0;

  constructor(table: MarkTable) {
    this.#table = table;
  }

  begin(words: readonly Word[], numbers: readonly number[]): void {
    this.#words = words;
    this.#numbers = numbers;
    this.#count = 0;
  }

  found(): Found {
    this.#words = [];
    this.#numbers = [];
    return { places: listed(this.#places, this.#count), positions: listed(this.#positions, this.#count) };
  }

  first(at: number): void {
    this.#put(this.#table.first(this.#numberAt(at)), at, FIRST);
  }

  one(at: number): void {
    this.#put(this.#table.one(this.#numberAt(at)), at, 0);
  }

  beginning(at: number): void {
    const word = this.#words[at];
    if (word !== undefined) this.#put(this.#table.beginning(beginningOf(word)), at, 0);
  }

  pair(at: number): void {
    this.#put(this.#table.two(this.#numberAt(at), this.#numberAt(at + 1), 1), at, 1);
  }

  apart(at: number): void {
    this.#put(this.#table.two(this.#numberAt(at), this.#numberAt(at + 2), 2), at, 2);
  }

  #numberAt(at: number): number {
    return this.#numbers[at] ?? UNKNOWN;
  }

  #put(place: number, at: number, kind: number): void {
    if (place === UNKNOWN) return;
    if (this.#count === this.#places.length) {
      this.#places = enlarged(this.#places, this.#count + 1);
      this.#positions = enlarged(this.#positions, this.#count + 1);
    }
    this.#places[this.#count] = place;
    this.#positions[this.#count++] = (at << KIND_BITS) | kind;
  }
}

/** As a plain list: a small typed array costs more than its numbers. */
function listed(numbers: Int32Array, count: number): readonly number[] {
  const list = new Array<number>(count);
  for (let index = 0; index < count; index++) list[index] = numbers[index] ?? 0;
  return list;
}

function enlarged(list: Int32Array, least: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * least);
  larger.set(list);
  return larger;
}

/** The first feature at this word or after it: a text has many ranges, and each reads its own features only. */
function firstAt(positions: readonly number[], word: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] ?? 0) >> KIND_BITS < word) low = middle + 1;
    else high = middle;
  }
  return low;
}
