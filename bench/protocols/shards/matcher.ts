/** What looking for an answer in one text gives: the contract of the tool `lookup_fragment`. */
export interface Lookup {
  readonly found: boolean;
  readonly answer: string;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** The share of the words of a question that a text must have. */
const ENOUGH = 0.8;
/** Words that say nothing about what is asked. */
const EMPTY = new Set(
  "a an the of in on at to for by with and or is are was were be been did do does who whom whose what which when where why how that this it its his her their from as".split(
    " ",
  ),
);

/** Looks for the answer to a question in a text, by words alone: the same on every machine, and no model is needed. */
export function lookupFragment(question: string, text: string): Lookup {
  const asked = new Set(wordsOf(question).filter((word) => !EMPTY.has(word)));
  const best = sentencesOf(text)
    .map((sentence) => ({ sentence, share: shareOf(asked, sentence) }))
    .sort((a, b) => b.share - a.share)[0];
  const confidence = Math.max(best?.share ?? 0, shareOf(asked, text));
  if (best === undefined || confidence < ENOUGH) return { found: false, answer: "", confidence };
  const answer = namesIn(best.sentence, asked);
  return { found: true, answer: answer === "" ? best.sentence : answer, confidence };
}

/** Whether an answer is right: the expected words, in this order, in at most one sentence. */
export function isRight(answer: string, expected: string): boolean {
  return contains(answer, expected);
}

/** Whether the words of a part occur in a text, one after the other. */
export function contains(text: string, part: string): boolean {
  const wanted = wordsOf(part).join(" ");
  return wanted !== "" && ` ${wordsOf(text).join(" ")} `.includes(` ${wanted} `);
}

function shareOf(asked: ReadonlySet<string>, text: string): number {
  const has = new Set(wordsOf(text));
  return asked.size === 0 ? 0 : [...asked].filter((word) => has.has(word)).length / asked.size;
}

/** The longest row of names and numbers that the question does not have itself. */
function namesIn(sentence: string, asked: ReadonlySet<string>): string {
  const rows: string[][] = [[]];
  for (const word of sentence.split(/\s+/)) {
    const plain = word.replace(/[^\p{L}\p{N}'-]/gu, "");
    const isName = /^[\p{Lu}\p{N}]/u.test(plain) && !asked.has(plain.toLowerCase()) && !EMPTY.has(plain.toLowerCase());
    if (isName) rows.at(-1)?.push(plain);
    else rows.push([]);
  }
  return rows.sort((a, b) => b.length - a.length)[0]?.join(" ") ?? "";
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?])\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
