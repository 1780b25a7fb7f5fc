import { AgentError, type Records } from "../../../envelope/index.js";

/**
 * Numbered slots, a fixed number per owner. Taking one is atomic across replicas: the limit holds, and no caller is rejected
 * while a slot is free.
 */
export class Slots {
  readonly #records: () => Records;
  readonly #limit: number;
  /** Where the search begins: concurrent callers rarely start at the same slot. */
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

/** The length prefix makes the key unambiguous. */
function prefixOf(owner: string): string {
  return `slot/${owner.length}:${owner}/`;
}
