import type { Maybe } from "../../envelope/index.js";
import type { Word } from "../text/words.js";
import type { Span } from "./extract.js";
import { isPlain } from "./marks.js";

/** The length of a quotation, in words: fewer are not informative, more repeat the text. */
const WORDS = { fewest: 3, most: 12 };

/** The stretch of words with the highest total contribution, quoted verbatim. */
export function windowOf({ text, words }: Span, weights: Float64Array): string {
  for (let fewest = Math.min(WORDS.fewest, words.length); fewest > 0; fewest--) {
    const window = clearest(text, words, weights, fewest);
    if (window !== undefined) return withoutLooseEnds(text, window);
  }
  return "";
}

/** A quotation that ends in "before a" looks truncated. */
function withoutLooseEnds(text: string, window: readonly Word[]): string {
  let to = window.length - 1;
  for (let last = window[to]; to >= WORDS.fewest && last !== undefined && isPlain(last); last = window[to]) to--;
  return text.slice(window[0]?.start ?? 0, window[to]?.end ?? 0);
}

function clearest(text: string, words: readonly Word[], weights: Float64Array, fewest: number): Maybe<readonly Word[]> {
  let best: Maybe<readonly Word[]>;
  let highest = Number.NEGATIVE_INFINITY;
  for (const from of words.keys()) {
    let sum = 0;
    for (let to = from; to < Math.min(words.length, from + WORDS.most); to++) {
      const last = words[to];
      // A quotation must not span words with another stance, nor split a surrogate pair.
      if (last === undefined || (to > from && parted(text, words[to - 1]?.end, last.start))) break;
      sum += weights[to] ?? 0;
      if (to - from + 1 < fewest || sum <= highest) continue;
      highest = sum;
      best = words.slice(from, to + 1);
    }
  }
  return best;
}

function parted(text: string, end = 0, start = 0): boolean {
  return /[\p{L}\p{N}\p{Surrogate}]/u.test(text.slice(end, start));
}
