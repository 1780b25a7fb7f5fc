import { foldCase } from "./fold-case.js";

/** A stretch of a passage. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

export interface Sentence extends Stretch {
  readonly clauses: readonly Stretch[];
}

/** A period that does not end a sentence: after an abbreviation or an initial. */
const NO_END =
  /(?:\b(?:[Ee]\.g|[Ii]\.e|[Ee]tc|[Vv]s|[Cc]f|[Aa]pprox|[Ii]ncl|[Ee]xcl|[Nn]r|[Ff]ig|Dr|Mr|Mrs|Prof|St|f|w)|\b[A-Z])\.$/u;
/** The length of the longest of these, plus the character before it. */
const NO_END_CHARACTERS = 8;
/** A run of marks or blanks is tried from its beginning only, because the text is untrusted. */
const END = /(?<![.!?…])[.!?…]+["'”’)\]]*(?=\s|$)|[;\n]+|\s[-–—]\s(?=\p{Lu})/gu;

/** Clause boundaries within a sentence in small letters: colons, dashes, brackets, and commas and words that separate statements. */
const PART =
  /[:()[\]]\s*|(?<!\s)\s+[-–—>=]+\s+|[–—]|,\s+(?=(?:and|but|or|so|yet|while|whereas|although|though|because|since|which|who|as|if|when|where|unless|until|then|not|nor|rather|instead|even|only|just|without|with|plus|also|it|we|they|he|she|you|this|that|these|those|there|each|every|all|both|none|nobody|no|nothing|any|the|a|an|our|their|its|my|his|her|one|two)\b)|(?<!\s)\s+(?=(?:but|whereas|although|though|because|yet|however|instead of|rather than|so that|even if|even though|as long as|unless|until)\b)/gu;

function sentencesIn(text: string): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let start = 0;
  for (const match of text.matchAll(END)) {
    const end = match.index + match[0].length;
    const before = text.slice(Math.max(start, match.index - NO_END_CHARACTERS), match.index + 1);
    if (match[0].startsWith(".") && NO_END.test(before)) continue;
    stretches.push({ start, end });
    start = end;
  }
  stretches.push({ start, end: text.length });
  return stretches.flatMap((stretch) => trimmed(text, stretch));
}

/** Trimmed of blanks and marks; undefined if nothing is left. */
function trimmed(text: string, { start, end }: Stretch): readonly Stretch[] {
  let from = start;
  let to = end;
  while (from < to && !isSmallLetter(text, from) && !/[\p{L}\p{N}]/u.test(text.charAt(from))) from++;
  while (to > from && !isSmallLetter(text, to - 1) && !/[\p{L}\p{N}%]/u.test(text.charAt(to - 1))) to--;
  return from < to ? [{ start: from, end: to }] : [];
}

const [SMALL_A, SMALL_Z] = ["a".charCodeAt(0), "z".charCodeAt(0)] as const;

/** Most words begin and end with one: no expression is asked about those. */
function isSmallLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= SMALL_A && code <= SMALL_Z;
}

function clausesIn(text: string, sentence: Stretch): readonly Stretch[] {
  const inside = foldCase(text.slice(sentence.start, sentence.end));
  const clauses: Stretch[] = [];
  let start = 0;
  for (const match of inside.matchAll(PART)) {
    if (match.index > start) clauses.push({ start: start + sentence.start, end: match.index + sentence.start });
    start = match.index + match[0].length;
  }
  clauses.push({ start: start + sentence.start, end: sentence.end });
  return clauses.flatMap((clause) => trimmed(text, clause));
}

/** The sentences of a text, each with its clauses. */
export function sentencesOf(text: string): readonly Sentence[] {
  return sentencesIn(text).map((sentence) => ({ ...sentence, clauses: clausesIn(text, sentence) }));
}
