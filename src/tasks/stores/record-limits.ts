import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { TaskLimits } from "../limits.js";

/** What every store asks for before it keeps a record. */
export type RecordLimits = Pick<TaskLimits, "keptRecords" | "recordBytes" | "keptRecordBytes">;

/** The longest name of a record, in bytes: names are kept twice, once in an index. */
export const RECORD_KEY_BYTES = 2_048;

/** Records that ran out are cleared away a few with every new one: more go than come, and none waits for long. */
export const CLEARED_AT_ONCE = 4;

/** A value as it is kept, once name and value are known to be short enough. */
export function recordText(key: string, value: JsonObject, { recordBytes }: RecordLimits): string {
  checkRecordKey(key);
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > recordBytes) throw new AgentError("too_large", `a record has at most ${recordBytes} bytes`);
  return text;
}

export function checkRecordKey(key: string): void {
  if (Buffer.byteLength(key) <= RECORD_KEY_BYTES) return;
  throw new AgentError("too_large", `the name of a record has at most ${RECORD_KEY_BYTES} bytes`);
}

/** What one record takes of `keptRecordBytes`: its name, as it is kept, and its value. */
export function bytesOfRecord(name: string, text: string): number {
  return Buffer.byteLength(name) + Buffer.byteLength(text);
}

export function noRoom(): AgentError {
  return new AgentError("overloaded", "no room to remember anything more");
}

/** One more than a counter says. What is no counter has counted nothing. */
export function nextCount(value: Maybe<JsonObject>): number {
  const before = value !== undefined && Object.keys(value).length === 1 ? value["count"] : undefined;
  return (Number.isSafeInteger(before) ? Number(before) : 0) + 1;
}
