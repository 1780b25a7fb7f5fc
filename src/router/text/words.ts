import { lemmaOf } from "./lemma.js";

/** A word and its position. */
export interface Word {
  /** Lower case, straight apostrophes. */
  readonly text: string;
  readonly lemma: string;
  /** Offsets into the passage. */
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{N}]+(?:['’.][\p{L}\p{N}]+)*/gu;

/** In capitals these are other words: DID, REST. */
const ACRONYM = /^\p{Lu}[\p{Lu}\p{N}]+s?$/u;

const [SMALL_A, SMALL_Z] = ["a".charCodeAt(0), "z".charCodeAt(0)] as const;

/** Contractions, and their long forms. */
const SPELLED_OUT: ReadonlyMap<string, readonly string[]> = new Map([
  ["e2e", ["end", "to", "end"]],
  ["e2ee", ["end", "to", "end", "encryption"]],
]);

/** Words whose form and lemma are kept. When there are more, all are forgotten: texts may be made to fill it. */
const KEPT_WORDS = 8_192;
/** Longer words are rare, and the engine keeps the whole text alive for a part of it that is longer. */
const KEPT_CHARACTERS = 12;

/** A word as it is written, and what is made of it. Texts repeat words, and equal strings that are one object are compared faster. */
const forms = new Map<string, Pick<Word, "text" | "lemma">>();

function formOf(written: string): Pick<Word, "text" | "lemma"> {
  const known = forms.get(written);
  if (known !== undefined) return known;
  const text = lowered(written);
  const form = { text, lemma: isAcronym(written) ? written.replace(/s$/, "") : lemmaOf(text) };
  if (written.length > KEPT_CHARACTERS) return form;
  if (forms.size === KEPT_WORDS) forms.clear();
  forms.set(written, form);
  return form;
}

/** The words of a text from `start` to `end`, in order. A hyphen or a slash separates words; an apostrophe does not. */
export function wordsOf(text: string, start = 0, end = text.length): readonly Word[] {
  const words: Word[] = [];
  for (const match of text.slice(start, end).matchAll(WORD)) {
    const [written] = match;
    const at = start + match.index;
    const end = at + written.length;
    const { text: word, lemma } = formOf(written);
    const spelled = word.startsWith("e2e") ? SPELLED_OUT.get(word) : undefined;
    if (spelled === undefined) words.push({ text: word, lemma, start: at, end });
    else for (const each of spelled) words.push({ text: each, lemma: lemmaOf(each), start: at, end });
  }
  return words;
}

function lowered(written: string): string {
  const word = written.toLowerCase();
  return word.includes("’") ? word.replaceAll("’", "'") : word;
}

/** Most words begin with a small letter: no expression is asked about those. */
function isAcronym(written: string): boolean {
  return !(written.charCodeAt(0) >= SMALL_A && written.charCodeAt(0) <= SMALL_Z) && ACRONYM.test(written);
}
