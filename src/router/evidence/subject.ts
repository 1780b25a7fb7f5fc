import type { Word } from "../text/words.js";
import type { Learned } from "./learned.js";
import { subjectMarksOf } from "./marks.js";
import { READINGS } from "./readings.js";
import { Scales } from "./weigh.js";

/** A word with this weight for some capability is about that capability. */
const TELLING = 1.2;

/** Tells words that name a subject from those that only connect. */
export function subjectsBy(learned: Learned): (word: Word) => boolean {
  const scales = new Scales(learned);
  const capabilities = READINGS.length - 1;
  return (word) => subjectMarksOf(word).some((mark) => scales.isTelling(mark, capabilities, TELLING));
}
