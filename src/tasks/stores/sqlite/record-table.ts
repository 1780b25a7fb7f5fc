import type { JsonObject, KeptRecord, Maybe, Records } from "../../../envelope/index.js";
import { nameOfOrdered, orderedRange, orderedText } from "../ordered-text.js";
import {
  bytesOfRecord,
  CLEARED_AT_ONCE,
  checkRecordKey,
  nextCount,
  noRoom,
  type RecordLimits,
  recordText,
} from "../record-limits.js";
import type { CommitQueue } from "./commit-queue.js";
import type { Connection, Statement } from "./library.js";
import type { Totals } from "./totals.js";

interface Rules {
  readonly limits: RecordLimits;
  now(): number;
}

const LIVES = "(until IS NULL OR until > ?)";

/** Records other than tasks. Every method is one step of a transaction; values are text. */
class RecordTable {
  readonly #totals: Totals;
  readonly #limits: RecordLimits;
  readonly #now: () => number;
  readonly #select: Statement<readonly [value: string]>;
  readonly #size: Statement<readonly [bytes: number]>;
  readonly #list: Statement<readonly [key: string, value: string]>;
  readonly #upsert: Statement<readonly []>;
  readonly #delete: Statement<readonly [bytes: number]>;
  readonly #ended: Statement<readonly [key: string]>;

  constructor(connection: Connection, totals: Totals, { limits, now }: Rules) {
    this.#totals = totals;
    this.#limits = limits;
    this.#now = now;
    this.#select = connection.prepare(`SELECT value FROM records WHERE key = ? AND ${LIVES}`);
    this.#size = connection.prepare(`SELECT bytes FROM records WHERE key = ? AND ${LIVES}`);
    this.#list = connection.prepare(
      `SELECT key, value FROM records WHERE key >= ? AND key < ? AND ${LIVES} ORDER BY key LIMIT ?`,
    );
    this.#upsert = connection.prepare(
      `INSERT INTO records (key, value, until, bytes) VALUES (?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until, bytes = excluded.bytes`,
    );
    this.#delete = connection.prepare("DELETE FROM records WHERE key = ? RETURNING CAST(bytes AS INTEGER)");
    this.#ended = connection.prepare("SELECT key FROM records WHERE until <= ? ORDER BY until LIMIT ?");
  }

  get(name: string): Maybe<string> {
    return this.#select.get([name, this.#now()])?.[0];
  }

  put(name: string, text: string, keepMs: Maybe<number>): void {
    const before = this.#sizeOf(name);
    const bytes = bytesOfRecord(name, text);
    const more = bytes - (before ?? 0);
    if (before === undefined) this.#forget(name);
    this.#makeRoom(before === undefined, more);
    this.#totals.add({ records: before === undefined ? 1 : 0, recordBytes: more });
    this.#upsert.run([name, text, keepMs === undefined ? null : this.#now() + keepMs, bytes]);
  }

  add(name: string, text: string, keepMs: Maybe<number>): Maybe<string> {
    const known = this.get(name);
    if (known === undefined) this.put(name, text, keepMs);
    return known;
  }

  delete(name: string): boolean {
    const known = this.#sizeOf(name) !== undefined;
    this.#forget(name);
    return known;
  }

  count(name: string, keepMs: Maybe<number>): number {
    const count = nextCount(valueFrom(this.get(name)));
    this.put(name, JSON.stringify({ count }), keepMs);
    return count;
  }

  list(prefix: string, limit: number, after: Maybe<string>): readonly KeptRecord[] {
    const { from, to } = orderedRange(prefix, after);
    const rows = this.#list.all([from, to, this.#now(), limit]);
    return rows.map(([name, text]) => ({ key: nameOfOrdered(name), value: JSON.parse(text) }));
  }

  /** Of a record that lives. */
  #sizeOf(name: string): Maybe<number> {
    return this.#size.get([name, this.#now()])?.[0];
  }

  /** For a new or growing record. Only expired records are evicted. */
  #makeRoom(isNew: boolean, more: number): void {
    const { keptRecords, keptRecordBytes } = this.#limits;
    if (isNew) this.#clear();
    const isFull = (): boolean => more > 0 && this.#totals.recordBytes + more > keptRecordBytes;
    while (isFull() && this.#clear() > 0);
    if (isFull() || (isNew && this.#totals.records >= keptRecords)) throw noRoom();
  }

  /** Removes some expired records and returns how many. */
  #clear(): number {
    const ended = this.#ended.intact([this.#now(), CLEARED_AT_ONCE]);
    for (const [name] of ended) this.#forget(name);
    return ended.length;
  }

  #forget(name: string): void {
    const gone = this.#delete.get([name]);
    if (gone !== undefined) this.#totals.add({ records: -1, recordBytes: -gone[0] });
  }
}

/** The table as `Records`. A value is serialized when it is passed in, not when its transaction runs. */
export class SqliteRecords implements Records {
  readonly #table: RecordTable;
  readonly #queue: CommitQueue;
  readonly #limits: RecordLimits;

  constructor(connection: Connection, { totals, queue }: { readonly totals: Totals; readonly queue: CommitQueue }, rules: Rules) {
    this.#table = new RecordTable(connection, totals, rules);
    this.#queue = queue;
    this.#limits = rules.limits;
  }

  async get(key: string): Promise<Maybe<JsonObject>> {
    return valueFrom(await this.#queue.do("read", () => this.#table.get(orderedText(key))));
  }

  async put(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<void> {
    const text = recordText(key, value, this.#limits);
    return this.#queue.do("write", () => this.#table.put(orderedText(key), text, keepMs));
  }

  async add(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<Maybe<JsonObject>> {
    const text = recordText(key, value, this.#limits);
    return valueFrom(await this.#queue.do("write", () => this.#table.add(orderedText(key), text, keepMs)));
  }

  delete(key: string): Promise<boolean> {
    return this.#queue.do("write", () => this.#table.delete(orderedText(key)));
  }

  async count(key: string, keepMs?: Maybe<number>): Promise<number> {
    checkRecordKey(key);
    return this.#queue.do("write", () => this.#table.count(orderedText(key), keepMs));
  }

  list(prefix: string, limit: number, after?: Maybe<string>): Promise<readonly KeptRecord[]> {
    return this.#queue.do("read", () => this.#table.list(prefix, limit, after));
  }
}

function valueFrom(text: Maybe<string>): Maybe<JsonObject> {
  return text === undefined ? undefined : JSON.parse(text);
}
