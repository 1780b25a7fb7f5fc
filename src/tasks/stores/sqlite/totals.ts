import type { Connection, Statement } from "./library.js";

/** Totals, stored in the file itself, so that no step has to scan it and several processes agree. */
export class Totals {
  readonly #read: Statement<readonly [number, number, number, number, number, number, number]>;
  readonly #write: Statement<readonly []>;
  #tasks = 0;
  #bytes = 0;
  #keys = 0;
  #rests = 0;
  #records = 0;
  #recordBytes = 0;
  #replays = 0;
  #known = false;
  #changed = false;

  constructor(connection: Connection) {
    this.#read = connection.prepare("SELECT tasks, bytes, keys, rests, records, record_bytes, replays FROM totals");
    this.#write = connection.prepare(
      "UPDATE totals SET tasks = ?, bytes = ?, keys = ?, rests = ?, records = ?, record_bytes = ?, replays = ?",
    );
  }

  get tasks(): number {
    this.#look();
    return this.#tasks;
  }

  get bytes(): number {
    this.#look();
    return this.#bytes;
  }

  get keys(): number {
    this.#look();
    return this.#keys;
  }

  get records(): number {
    this.#look();
    return this.#records;
  }

  get recordBytes(): number {
    this.#look();
    return this.#recordBytes;
  }

  get replays(): number {
    this.#look();
    return this.#replays;
  }

  add(more: Partial<Record<"tasks" | "bytes" | "keys" | "records" | "recordBytes" | "replays", number>>): void {
    this.#look();
    this.#changed = true;
    this.#tasks += more.tasks ?? 0;
    this.#bytes += more.bytes ?? 0;
    this.#keys += more.keys ?? 0;
    this.#records += more.records ?? 0;
    this.#recordBytes += more.recordBytes ?? 0;
    this.#replays += more.replays ?? 0;
  }

  /** The position of a task that becomes idle now, after all idle tasks. */
  nextRest(): number {
    this.#look();
    this.#changed = true;
    this.#rests += 1;
    return this.#rests;
  }

  /** Called when a transaction begins: cached totals may be outdated. */
  forget(): void {
    this.#known = false;
    this.#changed = false;
  }

  /** Called before a transaction commits. */
  write(): void {
    if (this.#changed)
      this.#write.run([this.#tasks, this.#bytes, this.#keys, this.#rests, this.#records, this.#recordBytes, this.#replays]);
    this.#changed = false;
  }

  #look(): void {
    if (this.#known) return;
    const row = this.#read.get([]);
    if (row === undefined) throw new Error("the totals are missing");
    [this.#tasks, this.#bytes, this.#keys, this.#rests, this.#records, this.#recordBytes, this.#replays] = row;
    this.#known = true;
  }
}
