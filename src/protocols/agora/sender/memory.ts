import type { Maybe } from "../../../envelope/index.js";
import type { SenderOptions } from "./options.js";

type Kept = NonNullable<SenderOptions["records"]>;

/** Counters and agreements of a sender, by peer and document. */
export class SenderMemory {
  readonly #records: Kept;
  readonly #target: string;

  constructor(records: Kept, target: string) {
    this.#records = records;
    this.#target = target;
  }

  /** Counts one task of this kind for this peer. Returns the new count. */
  countTask(task: string): Promise<number> {
    return this.#records.count(this.#key("tasks", task));
  }

  /** Counts one use of a document, at any peer, as the Python library counts. Returns the new count. */
  countUse(hash: string): Promise<number> {
    return this.#records.count(`sender/uses/${encodeURIComponent(hash)}`);
  }

  /** The text of the document used for this task at this peer. */
  async agreed(task: string): Promise<Maybe<string>> {
    const text = (await this.#records.get(this.#key("agreed", task)))?.["text"];
    return typeof text === "string" ? text : undefined;
  }

  agree(task: string, text: string): Promise<void> {
    return this.#records.put(this.#key("agreed", task), { text });
  }

  /** The peer rejected the document. */
  async reject(task: string, hash: string): Promise<void> {
    await this.#records.put(this.#key("rejected", hash), { task });
    await this.#records.delete(this.#key("agreed", task));
  }

  async isRejected(hash: string): Promise<boolean> {
    return (await this.#records.get(this.#key("rejected", hash))) !== undefined;
  }

  /** The task count of the last failed negotiation; 0 if none failed. */
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
