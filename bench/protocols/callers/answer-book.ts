/** Questions that a coordinator remembers; an answer that is late by more is a new one. */
const MAX_REMEMBERED = 100_000;

/** Which questions are settled. Each is counted once, however often its answer arrives. */
export class AnswerBook {
  readonly #settled = new Set<number>();

  /** Another phase begins, whose questions are others. */
  begin(): void {
    this.#settled.clear();
  }

  /** True the first time: what arrives then is counted, and everything later is not. */
  settle(seq: number): boolean {
    if (this.#settled.has(seq)) return false;
    this.#settled.add(seq);
    const [oldest] = this.#settled;
    if (this.#settled.size > MAX_REMEMBERED && oldest !== undefined) this.#settled.delete(oldest);
    return true;
  }
}
