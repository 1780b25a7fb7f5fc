import type { Maybe } from "../../envelope/index.js";
import type { Word } from "../text/words.js";
import { UNKNOWN } from "./mark-table.js";
import { isPlain, SUBJECT, visitManners, visitSubjects } from "./marks.js";
import { READINGS } from "./readings.js";
import { subjectsBy } from "./subject.js";
import { type Found, type Range, Scales } from "./weigh.js";
import { readWeights } from "./weights.js";

/** How the trained models read a text. */
export interface Reading {
  /** The probability of each of `READINGS`; they sum to one. */
  readonly shares: Float64Array;
  /** The contribution of each word to one of `READINGS`. */
  wordsFor(reading: number): Float64Array;
}

interface Models {
  readonly subject: Scales;
  readonly stance: Scales;
  readonly isSubject: ReturnType<typeof subjectsBy>;
}

let loaded: Maybe<Models>;

/** Loaded when the first text is read, not when the module is imported. */
function models(): Models {
  if (loaded === undefined) {
    const { subjects, manners } = readWeights();
    const subject = new Scales(subjects);
    loaded = { subject, stance: new Scales(manners), isSubject: subjectsBy(subject) };
  }
  return loaded;
}

const NONE = READINGS.indexOf("none");

/** Below this share of known words a reading is unreliable: another language, or an unknown subject. */
const ENOUGH_KNOWN = 0.6;

interface ReadSettings {
  readonly phrases: boolean;
  readonly stance: boolean;
}

/** The words of a span with their features, which its statements share: looked up once. */
export class ReadableWords {
  readonly #words: readonly Word[];
  /** For each word, whether it is a function word or known to the model. */
  readonly #known: readonly boolean[];
  /** Of each word in the model of subjects. */
  readonly #numbers: readonly number[];
  readonly #subjects: readonly Found[];
  #manners: Maybe<readonly Found[]>;
  /** Where a statement begins. */
  readonly #begins: (at: number) => boolean;

  constructor(words: readonly Word[], begins: ReadonlySet<number>) {
    const { subject } = models();
    this.#words = words;
    this.#begins = (at) => at === 0 || begins.has(at);
    const numbers = words.map(({ lemma }) => subject.numberOf(lemma));
    this.#numbers = numbers;
    this.#known = words.map((word, at) => isPlain(word) || subject.knows(numbers[at] ?? UNKNOWN));
    this.#subjects = [subject.find(words, numbers, (sink) => visitSubjects(words, sink))];
  }

  /** Reads words with the trained models: their subject, as far as the stance is that it is wanted. */
  read(range: Range, settings: ReadSettings): Reading {
    const { subject, stance } = models();
    const about = subject.weigh(this.#subjects, range, settings.phrases);
    const wanted = settings.stance ? (stance.weigh(this.#findManners(), range).shares[0] ?? 1) : 1;
    const held = wanted * this.#understood(range);
    const { shares } = about;
    const none = shares[NONE] ?? 0;
    for (let reading = 0; reading < shares.length; reading++) shares[reading] = (shares[reading] ?? 0) * held;
    shares[NONE] = none + (1 - none) * (1 - held);
    return { shares, wordsFor: (reading) => about.wordsFor(reading, range.to - range.from) };
  }

  /** Of the words, and then of the words with a placeholder for the subject. */
  #findManners(): readonly Found[] {
    const { stance, isSubject } = models();
    if (this.#manners !== undefined) return this.#manners;
    const words = this.#words;
    const numbers = words.map(({ lemma }) => stance.numberOf(lemma));
    const placeholder = stance.numberOf(SUBJECT);
    const masked = words.map((word, at) => (isSubject(word, this.#numbers[at]) ? placeholder : (numbers[at] ?? UNKNOWN)));
    const find = (of: readonly number[]): Found =>
      stance.find(words, of, (sink) => visitManners(words.length, sink, this.#begins));
    this.#manners = [find(numbers), find(masked)];
    return this.#manners;
  }

  /** The reliability of a reading, from 0 to 1, by the share of known words. */
  #understood({ from, to }: Range): number {
    let known = 0;
    for (let at = from; at < to; at++) if (this.#known[at] === true) known++;
    return Math.min(1, known / (ENOUGH_KNOWN * Math.max(to - from, 1)));
  }
}

/** Reads words that have no statements. */
export function readWords(words: readonly Word[], settings: ReadSettings): Reading {
  return new ReadableWords(words, new Set()).read({ from: 0, to: words.length }, settings);
}

/** Whether the word occurs in the training sentences. */
export function knowsWord({ lemma }: Word): boolean {
  const { subject } = models();
  return subject.knows(subject.numberOf(lemma));
}
