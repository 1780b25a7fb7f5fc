import type { Word } from "../text/words.js";
import { beginningOf, hasBeginning } from "./marks.js";
import { READINGS } from "./readings.js";
import type { Scales } from "./weigh.js";

/** A word with this weight for some capability is about that capability. */
const TELLING = 1.2;

/** A predicate for words that name a subject. */
export function subjectsBy(scales: Scales): (word: Word) => boolean {
  const capabilities = READINGS.length - 1;
  return (word) =>
    scales.isTelling(word.lemma, capabilities, TELLING) ||
    (hasBeginning(word) && scales.isTellingBeginning(beginningOf(word), capabilities, TELLING));
}
