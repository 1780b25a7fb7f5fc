import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { TaskLimits } from "../limits.js";

/** Limits of records. */
export type RecordLimits = Pick<TaskLimits, "keptRecords" | "recordBytes" | "keptRecordBytes">;

/** Longest name of a record in bytes: names are stored twice, once in an index. */
export const RECORD_KEY_BYTES = 2_048;

/** Expired records removed with every new one: more are removed than added. */
export const CLEARED_AT_ONCE = 4;

/** The value as stored text, after checking the size of name and value. */
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

/** The share of `keptRecordBytes` one record uses: name and value. */
export function bytesOfRecord(name: string, text: string): number {
  return Buffer.byteLength(name) + Buffer.byteLength(text);
}

export function noRoom(): AgentError {
  return new AgentError("overloaded", "no room for another record");
}

/** The next value of a counter; anything else counts as 0. */
export function nextCount(value: Maybe<JsonObject>): number {
  const before = value !== undefined && Object.keys(value).length === 1 ? value["count"] : undefined;
  return (Number.isSafeInteger(before) ? Number(before) : 0) + 1;
}
