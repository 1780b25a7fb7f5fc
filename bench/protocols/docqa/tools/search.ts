import type { TextDocument } from "../data/documents.js";
import { ToolError } from "./tool.js";

/** The usual parameters of BM25. */
const K1 = 1.2;
const B = 0.75;
const MAX_QUERY = 500;

/** Finds documents by their words (BM25). Ties go to the earlier document, so that the same query always finds the same one. */
export class DocumentSearch {
  readonly #documents: readonly {
    readonly document: TextDocument;
    readonly counts: ReadonlyMap<string, number>;
    readonly length: number;
  }[];
  readonly #frequency = new Map<string, number>();
  readonly #meanLength: number;

  constructor(texts: readonly TextDocument[]) {
    this.#documents = texts.map((document) => {
      const words = wordsOf(`${document.title} ${document.text}`);
      const counts = new Map<string, number>();
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const word of counts.keys()) this.#frequency.set(word, (this.#frequency.get(word) ?? 0) + 1);
      return { document, counts, length: words.length };
    });
    this.#meanLength = this.#documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, this.#documents.length);
  }

  /** The best document. Throws ToolError if none has any of the words. */
  best(query: string): TextDocument {
    const words = [...new Set(wordsOf(query.slice(0, MAX_QUERY)))];
    let best: { readonly document: TextDocument; readonly score: number } | undefined;
    for (const { document, counts, length } of this.#documents) {
      const score = words.reduce((sum, word) => sum + this.#score(counts.get(word) ?? 0, length, word), 0);
      if (score > (best?.score ?? 0)) best = { document, score };
    }
    if (best === undefined) throw new ToolError("not_found", `no document has a word of ${JSON.stringify(query.slice(0, 100))}`);
    return best.document;
  }

  #score(count: number, length: number, word: string): number {
    if (count === 0) return 0;
    const having = this.#frequency.get(word) ?? 0;
    const rarity = Math.log(1 + (this.#documents.length - having + 0.5) / (having + 0.5));
    return (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / this.#meanLength));
  }
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}
