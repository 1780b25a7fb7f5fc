import type { Maybe } from "../../envelope/index.js";
import type { Word } from "../text/words.js";
import { isPlain, manners, subjects } from "./marks.js";
import { READINGS } from "./readings.js";
import { subjectsBy } from "./subject.js";
import { Scales } from "./weigh.js";
import { readWeights } from "./weights.js";

/** How a stretch of text reads, judged by the prototypes it has most in common with. */
export interface Reading {
  /** For each of `READINGS`, how likely it is that the text asks for it; for the last, that it asks for nothing. They sum to one. */
  readonly shares: Float64Array;
  /** How much each word speaks for one of `READINGS` rather than for the others. */
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

/** What the words say when they are held against the prototypes: what they are about, as far as that is wanted. */
export function readWords(words: readonly Word[], settings: { readonly phrases: boolean; readonly stance: boolean }): Reading {
  const { subject, stance, isSubject } = models();
  const marks = subjects(words).filter(({ words: at }) => settings.phrases || at.length === 1);
  const about = subject.weigh(marks);
  const wanted = settings.stance ? (stance.weigh(manners(words, isSubject)).shares[0] ?? 1) : 1;
  const held = wanted * understood(words);
  const shares = about.shares.map((share, reading) => (reading === NONE ? share : share * held));
  shares[NONE] = (shares[NONE] ?? 0) + (1 - (about.shares[NONE] ?? 0)) * (1 - held);
  return { shares, wordsFor: (reading) => about.wordsFor(reading, words.length) };
}

/** Where fewer of the words than this are known, the text is in another language, or about things nobody thought of. */
const ENOUGH_KNOWN = 0.6;

/** How far a reading can be relied on, from 0 to 1, by how many of the words are known at all. */
function understood(words: readonly Word[]): number {
  const { subject } = models();
  const known = words.filter((word) => isPlain(word) || subject.knows(word.lemma)).length;
  return Math.min(1, known / (ENOUGH_KNOWN * Math.max(words.length, 1)));
}
