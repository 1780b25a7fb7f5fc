import type { Maybe } from "../../envelope/index.js";

/** Longer words are not typos, and comparing them costs the product of their lengths. */
const LONGEST = 40;

/** The known word closest to this one: at most one edit per three letters, and three in total. */
export function nearest(word: string, known: readonly string[]): Maybe<string> {
  if (word.length > LONGEST) return undefined;
  let best: Maybe<string>;
  let least = Math.min(3, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const slips = slipsBetween(word.toLowerCase(), candidate.toLowerCase());
    if (slips < least) {
      least = slips;
      best = candidate;
    }
  }
  return best;
}

/** The end of an error message: the closest known word, or all of them. */
export function suggestion(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant === undefined ? `there are: ${known.join(", ")}` : `did you mean ${meant}?`;
}

/** Levenshtein distance, one row at a time. */
function slipsBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
