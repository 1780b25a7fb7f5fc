/** Sentences to vectors of length one. */
export interface Embedder {
  /** One vector per text, all of the same size. Texts are embedded independently of each other. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
}
