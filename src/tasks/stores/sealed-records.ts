import type { JsonObject, Maybe, Records } from "../../envelope/index.js";
import type { StoredContent } from "./stored-content.js";

/** The records of a store with values that are content: sealed if the store is. Names and counters stay in clear. */
export function contentRecords(records: Records, content: StoredContent): Records {
  const written = (key: string, value: JsonObject): JsonObject =>
    content.isSealed ? { sealed: content.record(key, value) } : value;
  const read = (key: string, value: JsonObject): JsonObject =>
    content.isSealed && !isCounter(value) ? content.recordFrom(key, value["sealed"]) : value;
  const maybeRead = (key: string, value: Maybe<JsonObject>) => (value === undefined ? undefined : read(key, value));
  return {
    get: async (key) => maybeRead(key, await records.get(key)),
    put: (key, value, keepMs) => records.put(key, written(key, value), keepMs),
    add: async (key, value, keepMs) => maybeRead(key, await records.add(key, written(key, value), keepMs)),
    delete: (key) => records.delete(key),
    count: (key, keepMs) => records.count(key, keepMs),
    async list(prefix, limit, after) {
      const found = await records.list(prefix, limit, after);
      return found.map(({ key, value }) => ({ key, value: read(key, value) }));
    },
  };
}

function isCounter(value: JsonObject): boolean {
  return typeof value["count"] === "number" && Object.keys(value).length === 1;
}
