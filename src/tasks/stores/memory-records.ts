import type { JsonObject, KeptRecord, Maybe, Records } from "../../envelope/index.js";
import { firstBehind } from "./ordered-text.js";
import { bytesOfRecord, CLEARED_AT_ONCE, nextCount, noRoom, type RecordLimits, recordText } from "./record-limits.js";
import { SortedNames } from "./sorted-names.js";

interface Kept {
  /** A frozen copy. */
  readonly value: JsonObject;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly bytes: number;
}

const FOR_EVER = Number.POSITIVE_INFINITY;
/** Wide enough for every timestamp, so that text order is time order. */
const TIME_DIGITS = 16;

/** Records in memory. No method awaits, so each is atomic. */
export class MemoryRecords implements Records {
  readonly #kept = new Map<string, Kept>();
  readonly #names = new SortedNames();
  /** Names of expiring records, prefixed with their expiry time. */
  readonly #ends = new SortedNames();
  readonly #limits: RecordLimits;
  readonly #now: () => number;
  #bytes = 0;

  constructor(limits: RecordLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  async get(key: string): Promise<Maybe<JsonObject>> {
    return this.#live(key)?.value;
  }

  async put(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<void> {
    this.#write(key, recordText(key, value, this.#limits), keepMs);
  }

  async add(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<Maybe<JsonObject>> {
    const text = recordText(key, value, this.#limits);
    const known = this.#live(key);
    if (known === undefined) this.#write(key, text, keepMs);
    return known?.value;
  }

  async delete(key: string): Promise<boolean> {
    const known = this.#live(key);
    if (known !== undefined) this.#forget(key, known);
    return known !== undefined;
  }

  async count(key: string, keepMs?: Maybe<number>): Promise<number> {
    const count = nextCount(this.#live(key)?.value);
    this.#write(key, recordText(key, { count }, this.#limits), keepMs);
    return count;
  }

  async list(prefix: string, limit: number, after?: Maybe<string>): Promise<readonly KeptRecord[]> {
    const now = this.#now();
    const found: KeptRecord[] = [];
    for (const key of this.#names.beginning(prefix, firstBehind(prefix, after))) {
      if (found.length >= limit) break;
      const kept = this.#kept.get(key);
      if (kept !== undefined && kept.until > now) found.push({ key, value: kept.value });
    }
    return found;
  }

  #live(key: string): Maybe<Kept> {
    const kept = this.#kept.get(key);
    if (kept === undefined || kept.until > this.#now()) return kept;
    this.#forget(key, kept);
    return undefined;
  }

  #write(key: string, text: string, keepMs: Maybe<number>): void {
    const before = this.#live(key);
    const bytes = bytesOfRecord(key, text);
    const more = bytes - (before?.bytes ?? 0);
    this.#makeRoom(before === undefined, more);
    if (before === undefined) this.#names.add(key);
    else this.#noteEnd(key, before.until, "delete");
    this.#bytes += more;
    const until = keepMs === undefined ? FOR_EVER : this.#now() + keepMs;
    this.#noteEnd(key, until, "add");
    this.#kept.set(key, { value: JSON.parse(text, frozen), until, bytes });
  }

  #forget(key: string, { until, bytes }: Kept): void {
    this.#kept.delete(key);
    this.#bytes -= bytes;
    this.#names.delete(key);
    this.#noteEnd(key, until, "delete");
  }

  #noteEnd(key: string, until: number, change: "add" | "delete"): void {
    if (until !== FOR_EVER) this.#ends[change](endName(until, key));
  }

  /** For a new or growing record. Only expired records are evicted. */
  #makeRoom(isNew: boolean, more: number): void {
    const { keptRecords, keptRecordBytes } = this.#limits;
    if (isNew) this.#clear();
    const isFull = (): boolean => more > 0 && this.#bytes + more > keptRecordBytes;
    while (isFull() && this.#clear() > 0);
    if (isFull() || (isNew && this.#kept.size >= keptRecords)) throw noRoom();
  }

  /** Removes some expired records and returns how many. */
  #clear(): number {
    const before = this.#kept.size;
    for (const name of this.#ends.first(CLEARED_AT_ONCE)) this.#live(keyOfEnd(name));
    return before - this.#kept.size;
  }
}

function endName(until: number, key: string): string {
  return String(Math.max(0, Math.ceil(until))).padStart(TIME_DIGITS, "0") + key;
}

function keyOfEnd(name: string): string {
  return name.slice(TIME_DIGITS);
}

function frozen(_: string, value: unknown): unknown {
  return Object.freeze(value);
}
