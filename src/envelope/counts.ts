interface Count {
  readonly key: string;
  value: number;
}

/**
 * Counts by key. A key that counts nothing takes no memory, except the last one: most calls come from the caller of the call before, and
 * adding and removing its entry for each of them costs more than to count it.
 */
export class Counts {
  readonly #counts = new Map<string, Count>();
  #last: Count | undefined;

  /** The number of keys in memory. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: string): number {
    const last = this.#last;
    return last !== undefined && last.key === key ? last.value : (this.#counts.get(key)?.value ?? 0);
  }

  add(key: string, by: number): void {
    const last = this.#last;
    if (last !== undefined && last.key === key) last.value += by;
    else this.#use(key).value += by;
  }

  #use(key: string): Count {
    if (this.#last?.value === 0) this.#counts.delete(this.#last.key);
    let count = this.#counts.get(key);
    if (count === undefined) {
      count = { key, value: 0 };
      this.#counts.set(key, count);
    }
    this.#last = count;
    return count;
  }
}
