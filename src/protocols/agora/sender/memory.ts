import { type JsonObject, type Maybe, RecentMap } from "../../../envelope/index.js";
import type { SenderOptions } from "./options.js";

type Kept = NonNullable<SenderOptions["records"]>;

/** The in-memory fallback if no record store is configured. */
const REMEMBERED = 10_000;

/** How often, with whom and by which document: what a sender learns over time. */
export class SenderMemory {
  readonly #records: Kept;
  readonly #target: string;

  constructor(records: Maybe<Kept>, target: string) {
    this.#records = records ?? recentRecords();
    this.#target = target;
  }

  /** One more task of this kind for this peer: the new count. */
  countTask(task: string): Promise<number> {
    return this.#records.count(this.#key("tasks", task));
  }

  /** One more use of a document, at whatever peer, as the library counts. */
  countUse(hash: string): Promise<number> {
    return this.#records.count(`sender/uses/${encodeURIComponent(hash)}`);
  }

  /** The text of the document by which this task is done at this peer. */
  async agreed(task: string): Promise<Maybe<string>> {
    const text = (await this.#records.get(this.#key("agreed", task)))?.["text"];
    return typeof text === "string" ? text : undefined;
  }

  agree(task: string, text: string): Promise<void> {
    return this.#records.put(this.#key("agreed", task), { text });
  }

  /** The peer does not take the document after all. */
  async reject(task: string, hash: string): Promise<void> {
    await this.#records.put(this.#key("rejected", hash), { task });
    await this.#records.delete(this.#key("agreed", task));
  }

  async isRejected(hash: string): Promise<boolean> {
    return (await this.#records.get(this.#key("rejected", hash))) !== undefined;
  }

  /** With which task the last negotiation came to nothing; 0 where none did. */
  async failedAt(task: string): Promise<number> {
    const at = (await this.#records.get(this.#key("failed", task)))?.["at"];
    return typeof at === "number" ? at : 0;
  }

  fail(task: string, at: number): Promise<void> {
    return this.#records.put(this.#key("failed", task), { at });
  }

  #key(what: string, name: string): string {
    return `sender/${what}/${encodeURIComponent(name)}/${encodeURIComponent(this.#target)}`;
  }
}

function recentRecords(): Kept {
  const kept = new RecentMap<JsonObject>(REMEMBERED);
  return {
    get: async (key) => kept.get(key),
    async put(key, value) {
      kept.set(key, value);
    },
    async delete(key) {
      const had = kept.get(key) !== undefined;
      kept.delete(key);
      return had;
    },
    async count(key) {
      const before = kept.get(key)?.["count"];
      const count = (typeof before === "number" ? before : 0) + 1;
      kept.set(key, { count });
      return count;
    },
  };
}
