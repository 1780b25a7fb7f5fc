import type { Maybe } from "../../envelope/index.js";
import type { Word } from "../text/words.js";
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
  readonly isSubject: (word: Word) => boolean;
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
  readonly #subjects: readonly Found[];
  #manners: Maybe<readonly Found[]>;
  /** Where a statement begins. */
  readonly #begins: (at: number) => boolean;

  constructor(words: readonly Word[], begins: ReadonlySet<number>) {
    const { subject } = models();
    this.#words = words;
    this.#begins = (at) => at === 0 || begins.has(at);
    this.#known = words.map((word) => isPlain(word) || knowsWord(word));
    this.#subjects = [subject.find(words, lemmasOf(words), (sink) => visitSubjects(words, sink))];
  }

  /** Reads words with the trained models: their subject, as far as the stance is that it is wanted. */
  read(range: Range, settings: ReadSettings): Reading {
    const { subject, stance } = models();
    const about = subject.weigh(this.#subjects, range, settings.phrases);
    const wanted = settings.stance ? (stance.weigh(this.#findManners(), range).shares[0] ?? 1) : 1;
    const held = wanted * this.#understood(range);
    const shares = about.shares.map((share, reading) => (reading === NONE ? share : share * held));
    shares[NONE] = (shares[NONE] ?? 0) + (1 - (about.shares[NONE] ?? 0)) * (1 - held);
    return { shares, wordsFor: (reading) => about.wordsFor(reading, range.to - range.from) };
  }

  /** Of the words, and then of the words with a placeholder for the subject. */
  #findManners(): readonly Found[] {
    const { stance, isSubject } = models();
    const words = this.#words;
    this.#manners ??= [lemmasOf(words), words.map((word) => (isSubject(word) ? SUBJECT : word.lemma))].map((lemmas) =>
      stance.find(words, lemmas, (sink) => visitManners(words.length, sink, this.#begins)),
    );
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

function lemmasOf(words: readonly Word[]): readonly string[] {
  return words.map(({ lemma }) => lemma);
}

/** Whether the word occurs in the training sentences. */
export function knowsWord({ lemma }: Word): boolean {
  return models().subject.knows(lemma);
}
