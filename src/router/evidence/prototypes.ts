import type { Maybe } from "../../envelope/index.js";
import type { Word } from "../text/words.js";
import { isPlain, visitManners, visitSubjects } from "./marks.js";
import { READINGS } from "./readings.js";
import { subjectsBy } from "./subject.js";
import { Scales } from "./weigh.js";
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

/** Reads words with the trained models: their subject, as far as the stance is that it is wanted. */
export function readWords(words: readonly Word[], settings: { readonly phrases: boolean; readonly stance: boolean }): Reading {
  const { subject, stance, isSubject } = models();
  const about = subject.weigh((sink) => visitSubjects(words, sink), settings.phrases);
  const wanted = settings.stance ? (stance.weigh((sink) => visitManners(words, isSubject, sink)).shares[0] ?? 1) : 1;
  const held = wanted * understood(words);
  const shares = about.shares.map((share, reading) => (reading === NONE ? share : share * held));
  shares[NONE] = (shares[NONE] ?? 0) + (1 - (about.shares[NONE] ?? 0)) * (1 - held);
  return { shares, wordsFor: (reading) => about.wordsFor(reading, words.length) };
}

/** Whether the word occurs in the training sentences. */
export function knowsWord({ lemma }: Word): boolean {
  return models().subject.knows(lemma);
}

/** Below this share of known words a reading is unreliable: another language, or an unknown subject. */
const ENOUGH_KNOWN = 0.6;

/** The reliability of a reading, from 0 to 1, by the share of known words. */
function understood(words: readonly Word[]): number {
  const known = words.filter((word) => isPlain(word) || knowsWord(word)).length;
  return Math.min(1, known / (ENOUGH_KNOWN * Math.max(words.length, 1)));
}
