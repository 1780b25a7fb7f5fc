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

/** Receives the features of a text by the positions of their words. A model looks them up without writing them. */
export interface MarkSink {
  /** The word with which the text begins. */
  first(at: number): void;
  one(at: number): void;
  /** The prefix of the word. */
  beginning(at: number): void;
  /** The word and the next. */
  pair(at: number): void;
  /** The word and the one after the next. */
  apart(at: number): void;
}

/** The subject features: lemmas, prefixes, bigrams and skip-bigrams. */
export function visitSubjects(words: readonly Word[], sink: MarkSink): void {
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) continue;
    const plain = isPlain(word);
    if (!plain) {
      sink.one(at);
      if (hasBeginning(word)) sink.beginning(at);
    }
    if (at + 1 < words.length) sink.pair(at);
    const afterNext = words[at + 2];
    if (afterNext !== undefined && !plain && !isPlain(afterNext)) sink.apart(at);
  }
}

/** The same as text, each once. */
export function subjects(words: readonly Word[]): readonly Mark[] {
  const marks = new Marks();
  visitSubjects(words, marks.of(words, lemmasOf(words)));
  return marks.all();
}

/** The placeholder for the subject of a sentence. */
export const SUBJECT = "§";

/** Whether the word is longer than the prefix that it shares with others. */
export function hasBeginning({ text }: Word): boolean {
  return text.length > BEGINNING;
}

export function beginningOf({ text }: Word): string {
  return text.slice(0, BEGINNING);
}

/**
 * The stance features: the words around the subject, and the beginning of the sentence. A sentence counts as it is and with its
 * subject replaced by a placeholder, so that terms that are often denied are not learned as denials.
 */
export function visitManners(count: number, sink: MarkSink, begins: (at: number) => boolean = isFirst): void {
  for (let at = 0; at < count; at++) {
    if (begins(at)) sink.first(at);
    sink.one(at);
    if (at + 1 < count) sink.pair(at);
    if (at + 2 < count) sink.apart(at);
  }
}

function isFirst(at: number): boolean {
  return at === 0;
}

/** The same as text, each once. */
export function manners(words: readonly Word[], isSubject: (word: Word) => boolean): readonly Mark[] {
  const marks = new Marks();
  const masked = words.map((word) => (isSubject(word) ? SUBJECT : word.lemma));
  for (const lemmas of [lemmasOf(words), masked]) visitManners(words.length, marks.of(words, lemmas));
  return marks.all();
}

function lemmasOf(words: readonly Word[]): readonly string[] {
  return words.map(({ lemma }) => lemma);
}

class Marks {
  readonly #found = new Map<string, Mark>();

  of(words: readonly Word[], lemmas: readonly string[]): MarkSink {
    const put = (mark: string, at: readonly number[]): void => {
      if (!this.#found.has(mark)) this.#found.set(mark, { mark, words: at });
    };
    return {
      first: (at) => put(`^${lemmas[at]}`, [at]),
      one: (at) => put(lemmas[at] ?? "", [at]),
      beginning: (at) => put(`${words[at] === undefined ? "" : beginningOf(words[at])}*`, [at]),
      pair: (at) => put(`${lemmas[at]} ${lemmas[at + 1]}`, [at, at + 1]),
      apart: (at) => put(`${lemmas[at]} _ ${lemmas[at + 2]}`, [at, at + 2]),
    };
  }

  all(): readonly Mark[] {
    return [...this.#found.values()];
  }
}
