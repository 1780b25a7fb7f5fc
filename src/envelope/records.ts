import type { JsonObject, Maybe } from "./json.js";

/** One stored record. */
export interface KeptRecord {
  readonly key: string;
  readonly value: JsonObject;
}

/**
 * Small records beyond single calls that are not tasks: documents, counters, open conversations. They are stored with the tasks, shared
 * by all users of that store, and equally durable. Every method is atomic. `keepMs` is the lifetime from now; without it a record stays
 * until deleted. A value that is too large fails with `too_large`, a full store with `overloaded`: nothing is evicted.
 */
export interface Records {
  get(key: string): Promise<Maybe<JsonObject>>;
  put(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<void>;
  /** Adds a record unless the key exists; returns the existing value, or undefined if added. */
  add(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<Maybe<JsonObject>>;
  /** False if there was none. */
  delete(key: string): Promise<boolean>;
  /** Increments a counter, starting at 0, and returns the new value. `get` returns it as `{ count }`. */
  count(key: string, keepMs?: Maybe<number>): Promise<number>;
  /** Records with this key prefix in code-unit order, after `after`, at most `limit`. */
  list(prefix: string, limit: number, after?: Maybe<string>): Promise<readonly KeptRecord[]>;
}

/** The records below one name, isolated from other keys. */
export function recordsBelow(records: Records, name: string): Records {
  const prefix = `${name}/`;
  return {
    get: (key) => records.get(prefix + key),
    put: (key, value, keepMs) => records.put(prefix + key, value, keepMs),
    add: (key, value, keepMs) => records.add(prefix + key, value, keepMs),
    delete: (key) => records.delete(prefix + key),
    count: (key, keepMs) => records.count(prefix + key, keepMs),
    async list(below, limit, after) {
      const found = await records.list(prefix + below, limit, after === undefined ? undefined : prefix + after);
      return found.map(({ key, value }) => ({ key: key.slice(prefix.length), value }));
    },
  };
}
