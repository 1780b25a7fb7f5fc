/** Counts the incomplete messages of several sessions in memory. */
export class IncompleteBytes {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False above the limit; the bytes are then not counted. */
  add(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) return false;
    this.#held += bytes;
    return true;
  }

  remove(bytes: number): void {
    this.#held -= bytes;
  }
}
