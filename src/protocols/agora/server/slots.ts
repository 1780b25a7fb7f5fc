import { AgentError, type Records } from "../../../envelope/index.js";

/**
 * Numbered places, so many per owner. One is taken by a step that only one can win, so however many try at once, on however
 * many machines, no more are taken than there are, and nobody is refused while one is free.
 */
export class Slots {
  readonly #records: () => Records;
  readonly #limit: number;
  /** Where the search begins: two at once rarely want the same. */
  #next = 0;

  constructor(records: () => Records, limit: number) {
    this.#records = records;
    this.#limit = limit;
  }

  async take(owner: string, keepMs: number): Promise<number> {
    const records = this.#records();
    const prefix = prefixOf(owner);
    const taken = new Set((await records.list(prefix, this.#limit)).map(({ key }) => Number(key.slice(prefix.length))));
    const begin = this.#next++;
    for (let tried = 0; tried < this.#limit; tried++) {
      const slot = (begin + tried) % this.#limit;
      if (!taken.has(slot) && (await records.add(prefix + slot, {}, keepMs)) === undefined) return slot;
    }
    throw new AgentError("overloaded", `at most ${this.#limit} conversations may be open; delete one first`);
  }

  keep(owner: string, slot: number, keepMs: number): Promise<void> {
    return this.#records().put(prefixOf(owner) + slot, {}, keepMs);
  }

  free(owner: string, slot: number): Promise<boolean> {
    return this.#records().delete(prefixOf(owner) + slot);
  }
}

/** The length keeps owner and number apart, whatever characters the owner has. */
function prefixOf(owner: string): string {
  return `slot/${owner.length}:${owner}/`;
}
