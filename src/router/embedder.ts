/** Sentences to vectors of length one. */
export interface Embedder {
  /** One vector per text, all of the same size. Texts are embedded alone, so that a neighbour changes nothing. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}
