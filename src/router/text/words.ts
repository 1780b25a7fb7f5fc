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

/** The words of a text from `start` to `end`, in order. A hyphen or a slash separates words; an apostrophe does not. */
export function wordsOf(text: string, start = 0, end = text.length): readonly Word[] {
  const words: Word[] = [];
  for (const match of text.slice(start, end).matchAll(WORD)) {
    const [written] = match;
    const word = lowered(written);
    const at = start + match.index;
    const spelled = SPELLED_OUT.get(word);
    if (spelled !== undefined) {
      for (const each of spelled) words.push({ text: each, lemma: lemmaOf(each), start: at, end: at + written.length });
      continue;
    }
    words.push({
      text: word,
      lemma: isAcronym(written) ? written.replace(/s$/, "") : lemmaOf(word),
      start: at,
      end: at + written.length,
    });
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
