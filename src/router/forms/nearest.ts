import type { Maybe } from "../../envelope/index.js";

/** Longer words are no slips of the pen, and comparing them costs the product of their lengths. */
const LONGEST = 40;

/** The known word that is meant by this one, if one is close: at most one slip in three letters, and three in all. */
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

/** For the end of a complaint: the word that was meant, or all there are. */
export function suggestion(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant === undefined ? `there are: ${known.join(", ")}` : `did you mean ${meant}?`;
}

/** Letters to add, drop or change (Levenshtein), one row at a time. */
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
