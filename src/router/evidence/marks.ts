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

/** Receives the features of a text, with the positions of their words. A model looks them up without writing them. */
export interface MarkSink {
  one(mark: string, at: number): void;
  /** Two words in a row. */
  pair(first: string, second: string, at: number): void;
  /** Two words with one between them. */
  apart(first: string, second: string, at: number): void;
}

/** The subject features: lemmas, prefixes, bigrams and skip-bigrams. */
export function visitSubjects(words: readonly Word[], sink: MarkSink): void {
  for (const [index, word] of words.entries()) {
    const plain = isPlain(word);
    if (!plain) for (const mark of subjectMarksOf(word)) sink.one(mark, index);
    const next = words[index + 1];
    if (next !== undefined) sink.pair(word.lemma, next.lemma, index);
    const afterNext = words[index + 2];
    if (afterNext !== undefined && !plain && !isPlain(afterNext)) sink.apart(word.lemma, afterNext.lemma, index);
  }
}

/** The same as text, each once. */
export function subjects(words: readonly Word[]): readonly Mark[] {
  const marks = new Marks();
  visitSubjects(words, marks);
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
export function visitManners(words: readonly Word[], isSubject: (word: Word) => boolean, sink: MarkSink): void {
  const lemmas = words.map(({ lemma }) => lemma);
  visitWords(lemmas, sink);
  visitWords(
    words.map((word, index) => (isSubject(word) ? SUBJECT : (lemmas[index] ?? ""))),
    sink,
  );
}

/** The same as text, each once. */
export function manners(words: readonly Word[], isSubject: (word: Word) => boolean): readonly Mark[] {
  const marks = new Marks();
  visitManners(words, isSubject, marks);
  return marks.all();
}

function visitWords(lemmas: readonly string[], sink: MarkSink): void {
  for (const [index, lemma] of lemmas.entries()) {
    if (index === 0) sink.one(`^${lemma}`, index);
    sink.one(lemma, index);
    const next = lemmas[index + 1];
    if (next !== undefined) sink.pair(lemma, next, index);
    const afterNext = lemmas[index + 2];
    if (afterNext !== undefined) sink.apart(lemma, afterNext, index);
  }
}

/** What separates the words of a feature. */
const BETWEEN = { pair: " ", apart: " _ " };

class Marks implements MarkSink {
  readonly #found = new Map<string, Mark>();

  one(mark: string, at: number): void {
    this.#put(mark, [at]);
  }

  pair(first: string, second: string, at: number): void {
    this.#put(first + BETWEEN.pair + second, [at, at + 1]);
  }

  apart(first: string, second: string, at: number): void {
    this.#put(first + BETWEEN.apart + second, [at, at + 2]);
  }

  all(): readonly Mark[] {
    return [...this.#found.values()];
  }

  #put(mark: string, words: readonly number[]): void {
    if (!this.#found.has(mark)) this.#found.set(mark, { mark, words });
  }
}

/** The features of a model by their words. Looking one up makes no text. */
export class MarkTable {
  readonly #one = new Map<string, number>();
  readonly #pair = new Map<string, Map<string, number>>();
  readonly #apart = new Map<string, Map<string, number>>();

  /** In the order of the model: the place of a feature is its value. */
  constructor(marks: readonly string[]) {
    for (const [index, mark] of marks.entries()) {
      const [first = "", middle, last] = mark.split(" ");
      if (middle === undefined) this.#one.set(first, index);
      else if (last === undefined) below(this.#pair, first).set(middle, index);
      else below(this.#apart, first).set(last, index);
    }
  }

  one(mark: string): number | undefined {
    return this.#one.get(mark);
  }

  pair(first: string, second: string): number | undefined {
    return this.#pair.get(first)?.get(second);
  }

  apart(first: string, second: string): number | undefined {
    return this.#apart.get(first)?.get(second);
  }
}

function below(table: Map<string, Map<string, number>>, first: string): Map<string, number> {
  let inner = table.get(first);
  if (inner === undefined) {
    inner = new Map();
    table.set(first, inner);
  }
  return inner;
}
