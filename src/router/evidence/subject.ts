import type { Word } from "../text/words.js";
import { UNKNOWN } from "./mark-table.js";
import { beginningOf, hasBeginning } from "./marks.js";
import { READINGS } from "./readings.js";
import type { Scales } from "./weigh.js";

/** A word with this weight for some capability is about that capability. */
const TELLING = 1.2;

const [YES, NO] = [1, 2];

/** A predicate for words that name a subject. `number` is the word's in the model, where it is known already. */
export function subjectsBy(scales: Scales): (word: Word, number?: number) => boolean {
  const capabilities = READINGS.length - 1;
  /** By feature, once it was asked for: 0 is unknown. */
  const answers = new Uint8Array(scales.size);
  const isTelling = (place: number): boolean => {
    if (place === UNKNOWN) return false;
    if (answers[place] === 0) answers[place] = scales.highestWeight(place, capabilities) >= TELLING ? YES : NO;
    return answers[place] === YES;
  };
  return (word, number = scales.numberOf(word.lemma)) =>
    isTelling(scales.placeOf(number)) || (hasBeginning(word) && isTelling(scales.placeOfBeginning(beginningOf(word))));
}
