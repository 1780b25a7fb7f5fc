import { describe, expect, it } from "vitest";
import { defaultCandidates, lintDecision } from "../../src/router/index.js";
import { decideText } from "./scenarios.js";

const SIZE = 100_000;
const repeated = (piece: string, size: number): string => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
const SENTENCE = "The two agents chat to and fro, and nobody else may read what they say. ";

/** Texts of a given size that are slow to parse. */
const HOSTILE: Readonly<Record<string, (size: number) => string>> = {
  "ordinary prose": (size) => repeated(SENTENCE, size),
  "one endless sentence": (size) => repeated("the ledger keeps every entry and each clerk signs what she sends ", size),
  "one endless word": (size) => repeated("w", size),
  commas: (size) => repeated(",", size),
  "commas and blanks": (size) => repeated(", ", size),
  "the word no": (size) => repeated("no ", size),
  "the word no and hyphens": (size) => repeated("no-", size),
  "words that turn": (size) => repeated("avoid ", size),
  "words that turn, in a list": (size) => repeated("avoid a,", size),
  "words that turn, in clauses": (size) => repeated("avoid a: or b, ", size),
  "words that turn back": (size) => repeated("is not needed, ", size),
  "the past": (size) => repeated("used to, ", size),
  "needs in a list": (size) => repeated("signed, encrypted, ", size),
  "needs in clauses": (size) => repeated("nobody may read it, the letter is sealed, ", size),
  "the affairs of others": (size) => repeated("is the notary's ", size),
  "nothing wanted": (size) => repeated("no seal and ", size),
  contrasts: (size) => repeated("rather than x ", size),
  "opening brackets": (size) => repeated("(", size),
  "nested brackets": (size) => `${"([".repeat(size / 4)}sign${"])".repeat(size / 4)}`,
  blanks: (size) => `a${repeated(" ", size)}b`,
  "line ends": (size) => repeated("\n", size),
  points: (size) => `${repeated(".", size)}a`,
  "points and quotes": (size) => `${repeated(".'", size)}a`,
  abbreviations: (size) => repeated("e.g. ", size),
  dashes: (size) => `a ${repeated("-", size)}b`,
  apostrophes: (size) => repeated("a'", size),
  emoji: (size) => repeated("😀", size),
  "half characters": (size) => repeated("\ud800", size),
  "half characters in words": (size) => repeated("sign\udc00 it off and encrypt\ud83d it end to end ", size),
  "from right to left": (size) => repeated("مرحبا بالعالم ", size),
  "marks of direction": (size) => repeated("\u202eencrypt\u202c ", size),
  NUL: (size) => repeated("\0", size),
  "NUL in words": (size) => repeated("encrypt\0 end to end\0", size),
  "combining marks": (size) => repeated("e\u0301\u0302\u0303", size),
  "taken back again and again": (size) => repeated("That is only. ", size),
  "questions and answers": (size) => repeated("a? No. ", size),
};

async function timeOf(text: string): Promise<number> {
  const start = performance.now();
  await decideText(text);
  return performance.now() - start;
}

/** Below this time, the machine is measured and not the code. */
const NOISE_MS = 50;
/** Twice the text takes twice the time of a linear reader, and four times that of a quadratic one. */
const LINEAR = 3;
/** Other load only ever lengthens a reading, so the shortest of several is the most accurate. */
const ATTEMPTS = 20;

/** Whether the whole takes no more than its share of the time of the half. */
async function isLinear(half: string, whole: string): Promise<boolean> {
  let [shortestHalf, shortestWhole] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    shortestHalf = Math.min(shortestHalf, await timeOf(half));
    shortestWhole = Math.min(shortestWhole, await timeOf(whole));
    if (shortestWhole < LINEAR * Math.max(shortestHalf, NOISE_MS)) return true;
  }
  return false;
}

describe("a text of 100 kB", () => {
  for (const [what, textOf] of Object.entries(HOSTILE)) {
    it(`is read in linear time: ${what}`, async () => {
      expect(await isLinear(textOf(SIZE / 2), textOf(SIZE))).toBe(true);
    });

    it(`gets a decision that passes the linter: ${what}`, async () => {
      const text = textOf(SIZE);
      const decision = await decideText(text);
      expect(lintDecision(decision, { input: [text], features: defaultCandidates() })).toEqual([]);
      expect(JSON.stringify(decision)).not.toMatch(/\p{Surrogate}|\\ud[89a-f]/u);
    });
  }
});
