import type { Word } from "../text/words.js";

/** Function words: features only in combination with another word. */
const PLAIN = new Set(
  "a an the of to in on at by for from with and or as is be am are was were it its this that these those he she they we you i my our their his her us them me your there here so then than do have has had will would shall should can could may might must also just very".split(
    " ",
  ),
);

/** Whether the word is a function word. */
export function isPlain({ text }: Word): boolean {
  return PLAIN.has(text);
}

/** The length of the prefix that related words share: "sign", "signature", "signatory". */
const BEGINNING = 5;

/** A feature of a text, and the words it is made from. */
export interface Mark {
  readonly mark: string;
  readonly words: readonly number[];
}

/** The subject features: lemmas, prefixes, bigrams and skip-bigrams, each once. */
export function subjects(words: readonly Word[]): readonly Mark[] {
  const marks = new Marks();
  for (const [index, word] of words.entries()) {
    const plain = isPlain(word);
    if (!plain) for (const mark of subjectMarksOf(word)) marks.put(mark, index);
    const next = words[index + 1];
    if (next !== undefined) marks.put(`${word.lemma} ${next.lemma}`, index, index + 1);
    const afterNext = words[index + 2];
    if (afterNext !== undefined && !plain && !isPlain(afterNext))
      marks.put(`${word.lemma} _ ${afterNext.lemma}`, index, index + 2);
  }
  return marks.all();
}

/** The placeholder for the subject of a sentence. */
const SUBJECT = "§";

/** The subject features of a single word. */
export function subjectMarksOf({ lemma, text }: Word): readonly string[] {
  return text.length > BEGINNING ? [lemma, `${text.slice(0, BEGINNING)}*`] : [lemma];
}

/**
 * The stance features: the words around the subject, and the beginning of the sentence. The sentence counts as it is and with its
 * subject replaced by a placeholder, so that terms that are often denied are not learned as denials.
 */
export function manners(words: readonly Word[], isSubject: (word: Word) => boolean): readonly Mark[] {
  const marks = new Marks();
  putManners(marks, words);
  putManners(
    marks,
    words.map((word) => ({ lemma: isSubject(word) ? SUBJECT : word.lemma })),
  );
  return marks.all();
}

function putManners(marks: Marks, words: readonly Pick<Word, "lemma">[]): void {
  for (const [index, { lemma }] of words.entries()) {
    if (index === 0) marks.put(`^${lemma}`, index);
    marks.put(lemma, index);
    const next = words[index + 1];
    if (next !== undefined) marks.put(`${lemma} ${next.lemma}`, index, index + 1);
    const afterNext = words[index + 2];
    if (afterNext !== undefined) marks.put(`${lemma} _ ${afterNext.lemma}`, index, index + 2);
  }
}

class Marks {
  readonly #found = new Map<string, Mark>();

  put(mark: string, ...words: number[]): void {
    if (!this.#found.has(mark)) this.#found.set(mark, { mark, words });
  }

  all(): readonly Mark[] {
    return [...this.#found.values()];
  }
}
