/** The sequence numbers that were received, as far back as records may arrive late. */
export class ReplayWindow {
  readonly #size: number;
  /** A ring: whether the number with this remainder was received. */
  readonly #seen: Uint8Array;
  #newest = -1;

  constructor(size: number) {
    this.#size = size;
    this.#seen = new Uint8Array(size);
  }

  /** What is wrong with a number, before its record is verified. */
  check(sequence: number): "replayed" | "stale" | "reordered" | undefined {
    if (this.#size === 0) return this.#inOrder(sequence);
    if (sequence > this.#newest) return undefined;
    if (this.#newest - sequence >= this.#size) return "stale";
    return this.#seen[sequence % this.#size] === 1 ? "replayed" : undefined;
  }

  #inOrder(sequence: number): "replayed" | "reordered" | undefined {
    if (sequence <= this.#newest) return "replayed";
    return sequence === this.#newest + 1 ? undefined : "reordered";
  }

  /** Only after the record was verified. */
  mark(sequence: number): void {
    if (sequence > this.#newest) {
      const skipped = Math.min(sequence - this.#newest, this.#size);
      for (let ahead = 0; ahead < skipped; ahead++) this.#seen[(sequence - ahead) % this.#size] = 0;
      this.#newest = sequence;
    }
    if (this.#size > 0) this.#seen[sequence % this.#size] = 1;
  }

  /** The oldest number that may still arrive. */
  get oldest(): number {
    return Math.max(0, this.#newest - Math.max(this.#size, 1) + 1);
  }
}
