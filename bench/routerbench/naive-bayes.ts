interface Class {
  documents: number;
  /** Words in all its documents together. */
  total: number;
  readonly counts: Map<string, number>;
}

/**
 * Multinomial naive Bayes over words, smoothed by one. It forgets as exactly as it learns, so that leaving one scenario out
 * costs no more than that scenario.
 */
export class NaiveBayes {
  readonly #classes = new Map<string, Class>();
  /** The count of each word: its keys are the vocabulary. */
  readonly #seen = new Map<string, number>();
  #documents = 0;

  learn(label: string, words: readonly string[]): void {
    this.#change(label, words, 1);
  }

  forget(label: string, words: readonly string[]): void {
    this.#change(label, words, -1);
  }

  /** The likeliest label; of equally likely ones the first of `order`. Undefined while nothing was learnt. */
  choose(words: readonly string[], order: readonly string[]): string | undefined {
    let best: string | undefined;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (const label of order) {
      const score = this.#score(label, words);
      if (score > bestScore) [best, bestScore] = [label, score];
    }
    return best;
  }

  /** The label with most documents; of equally frequent ones the first of `order`. */
  majority(order: readonly string[]): string | undefined {
    return this.choose([], order);
  }

  #change(label: string, words: readonly string[], by: 1 | -1): void {
    const known = this.#classes.get(label) ?? { documents: 0, total: 0, counts: new Map<string, number>() };
    this.#classes.set(label, known);
    this.#documents += by;
    known.documents += by;
    known.total += by * words.length;
    for (const word of words) {
      add(known.counts, word, by);
      add(this.#seen, word, by);
    }
  }

  /** Logarithm of prior times likelihood, up to a constant. Unknown words are ignored. */
  #score(label: string, words: readonly string[]): number {
    const known = this.#classes.get(label);
    if (known === undefined || known.documents === 0) return Number.NEGATIVE_INFINITY;
    let score = Math.log(known.documents / this.#documents);
    for (const word of words)
      if (this.#seen.has(word)) score += Math.log(((known.counts.get(word) ?? 0) + 1) / (known.total + this.#seen.size));
    return score;
  }
}

function add(counts: Map<string, number>, word: string, by: 1 | -1): void {
  const count = (counts.get(word) ?? 0) + by;
  if (count === 0) counts.delete(word);
  else counts.set(word, count);
}

/** Letters and digits in a row, in lower case. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
