import type { JsonObject, Maybe } from "./json.js";

/** One thing that is remembered under a name. */
export interface KeptRecord {
  readonly key: string;
  readonly value: JsonObject;
}

/**
 * What must be remembered beyond one call and is no task: documents, counters, open conversations. It lives where tasks
 * live, is shared by all who share that store, and survives what tasks survive. Every method is one atomic step. `keepMs`
 * is how long from now; without it a record stays until it is deleted. A value that is too large is refused with
 * `too_large`, one that finds no room with `overloaded`: nothing is dropped to make room.
 */
export interface Records {
  get(key: string): Promise<Maybe<JsonObject>>;
  put(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<void>;
  /** Unless there is one: then that one stays, and is given. Undefined: added. */
  add(key: string, value: JsonObject, keepMs?: Maybe<number>): Promise<Maybe<JsonObject>>;
  /** False where there was none. */
  delete(key: string): Promise<boolean>;
  /** One more, from none: the new count. `get` shows it as `{ count }`. */
  count(key: string, keepMs?: Maybe<number>): Promise<number>;
  /** Those whose key begins so, by key in code-unit order, from behind `after`, at most `limit`. */
  list(prefix: string, limit: number, after?: Maybe<string>): Promise<readonly KeptRecord[]>;
}

/** The part of the records below one name: nobody else's keys are seen or met. */
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
