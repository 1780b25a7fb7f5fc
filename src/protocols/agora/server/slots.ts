import { AgentError, type KeptRecord, type Records } from "../../../envelope/index.js";

/** Who takes a slot, and how one is freed when all are taken. */
export interface SlotRequest {
  readonly owner: string;
  /** The conversation that takes it. */
  readonly id: string;
  readonly now: number;
  readonly keepMs: number;
  /** No conversation that is younger is ended. */
  readonly leastMs: number;
  /** Ends a conversation of the same owner and frees its slot; false if it is in use. */
  end(id: string): Promise<boolean>;
}

/**
 * Numbered slots, a fixed number per owner. Taking one is atomic across replicas: the limit holds, and no caller is rejected
 * while a slot is free, or the conversation of one can be ended.
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

  async take(request: SlotRequest): Promise<number> {
    const { owner, id, now, keepMs } = request;
    const records = this.#records();
    const prefix = prefixOf(owner);
    const slots = await records.list(prefix, this.#limit);
    const taken = new Set(slots.map(({ key }) => Number(key.slice(prefix.length))));
    if (taken.size >= this.#limit) await endOldest(slots, request, taken, prefix);
    const begin = this.#next++;
    for (let tried = 0; tried < this.#limit; tried++) {
      const slot = (begin + tried) % this.#limit;
      if (!taken.has(slot) && (await records.add(prefix + slot, { id, at: now }, keepMs)) === undefined) return slot;
    }
    throw new AgentError("overloaded", `at most ${this.#limit} conversations may be open; delete one first`);
  }

  keep({ owner, id, now, keepMs }: Omit<SlotRequest, "end" | "leastMs">, slot: number): Promise<void> {
    return this.#records().put(prefixOf(owner) + slot, { id, at: now }, keepMs);
  }

  free(owner: string, slot: number): Promise<boolean> {
    return this.#records().delete(prefixOf(owner) + slot);
  }
}

/**
 * Ends the oldest conversation that nothing would be lost of. A caller that ended without deleting its conversations (a process that
 * was killed, a request that did not arrive) is not locked out by them until they expire.
 */
async function endOldest(slots: readonly KeptRecord[], request: SlotRequest, taken: Set<number>, prefix: string): Promise<void> {
  const opened = ({ value }: KeptRecord): number => (typeof value["at"] === "number" ? value["at"] : request.now);
  const old = slots.filter((slot) => opened(slot) <= request.now - request.leastMs);
  for (const { key, value } of old.sort((one, other) => opened(one) - opened(other))) {
    if (typeof value["id"] !== "string" || !(await request.end(value["id"]))) continue;
    taken.delete(Number(key.slice(prefix.length)));
    return;
  }
}

/** The length prefix makes the key unambiguous. */
function prefixOf(owner: string): string {
  return `slot/${owner.length}:${owner}/`;
}
