import { AgentError, isObject, type JsonObject } from "../../../envelope/index.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { readTimestamp } from "../../../transport/timestamp.js";
import { ReverseWriter } from "./reverse-writer.js";
import type { Field, MessageType } from "./schema.js";
import { BOOL, KEY, LIST, LIST_ITEM, NANOS, NULL, NUMBER, SECONDS, STRING, STRUCT, STRUCT_FIELD, VALUE } from "./well-known.js";

/** Limit of JSON depth, to avoid a stack overflow. */
const MAX_DEPTH = 200;

const writer = new ReverseWriter();

/** Encodes a ProtoJSON object, after `room` reserved bytes. Unknown members are omitted. Everything is written from its end on. */
export function encodeMessage(type: MessageType, value: JsonObject, room: Uint8Array): Uint8Array {
  try {
    writeFields(type, value, 0);
    writer.raw(room);
    return writer.take();
  } catch (thrown) {
    // Discards the partial message before the next one.
    writer.clear();
    if (thrown instanceof AgentError) throw thrown;
    throw new AgentError("encode", `the ${type.name} cannot be written as protobuf`, { cause: thrown });
  }
}

function writeFields(type: MessageType, object: JsonObject, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  const { fields } = type;
  for (let index = fields.length - 1; index >= 0; index--) {
    const field = fields[index] as Field; // index is within bounds
    const value = object[field.name];
    if (value === undefined || (value === null && field.kind !== "value")) continue;
    if (field.label === "repeated") writeRepeated(field, value, depth);
    else if (field.label === "map") writeMap(field, value, depth);
    else writeValue(field, value, depth);
  }
}

function writeRepeated(field: Field, value: unknown, depth: number): void {
  if (!Array.isArray(value)) throw wrong(field);
  for (let index = value.length - 1; index >= 0; index--) {
    const item: unknown = value[index];
    if (field.kind === "message") writeBody(field, item, depth);
    else if (field.kind === "bytes") writer.bytes(readBase64(textOf(field, item), field.path));
    else writer.string(textOf(field, item));
    writer.uint32(field.tag);
  }
}

function writeMap(field: Field, value: unknown, depth: number): void {
  if (!isObject(value)) throw wrong(field);
  for (const [key, item] of Object.entries(value).reverse()) {
    if (item === undefined) continue;
    const from = writer.size;
    if (field.message === undefined) writer.string(textOf(field, item));
    else writeBody(field, item, depth);
    writeEntryKey(key, from, field.tag);
  }
}

/** The rest of an entry of a map, whose value was written since the writer had this size. */
function writeEntryKey(key: string, from: number, tag: number): void {
  writer.uint32(VALUE);
  writer.string(key);
  writer.uint32(KEY);
  writer.lengthSince(from);
  writer.uint32(tag);
}

/** One value. A plain field with its default value is omitted. */
function writeValue(field: Field, value: unknown, depth: number): void {
  if (isDefault(field, value)) return;
  const from = writer.size;
  switch (field.kind) {
    case "string":
      writer.string(textOf(field, value));
      break;
    case "message":
      writeBody(field, value, depth);
      break;
    case "enum":
    case "int32":
      writer.int32(numberOf(field, value));
      break;
    case "bool":
      writer.bool(value === true);
      break;
    case "bytes":
      writer.bytes(readBase64(value, field.name));
      break;
    case "timestamp":
      writeTimestampFields(readTimestamp(value, field.name));
      writer.lengthSince(from);
      break;
    case "struct":
      if (!isObject(value)) throw wrong(field);
      writeStruct(value, depth + 1);
      writer.lengthSince(from);
      break;
    case "value":
      writeJson(value, depth + 1);
      writer.lengthSince(from);
      break;
    default:
      field.kind satisfies never;
  }
  writer.uint32(field.tag);
}

/** Whether the value is that of an absent field. Throws for a number or a boolean of another type. */
function isDefault(field: Field, value: unknown): boolean {
  switch (field.kind) {
    case "string":
    case "bytes":
      return value === "" && !field.counts;
    case "enum":
    case "int32":
      return numberOf(field, value) === 0 && !field.counts;
    case "bool":
      if (typeof value !== "boolean") throw wrong(field);
      return !value && !field.counts;
    default:
      return false;
  }
}

function writeBody(field: Field, value: unknown, depth: number): void {
  if (!isObject(value) || field.message === undefined) throw wrong(field);
  const from = writer.size;
  writeFields(field.message, value, depth + 1);
  writer.lengthSince(from);
}

function numberOf(field: Field, value: unknown): number {
  const number = field.kind === "enum" ? field.enumeration?.numbers.get(value) : value;
  if (typeof number !== "number") throw wrong(field);
  return number;
}

function writeTimestampFields(ms: number): void {
  const seconds = Math.floor(ms / 1000);
  const milli = ms - seconds * 1000;
  if (milli !== 0) {
    writer.int32(milli * 1_000_000);
    writer.uint32(NANOS);
  }
  if (seconds === 0) return;
  // Fast path until the year 2106.
  if (seconds > 0 && seconds <= 0xffffffff) writer.uint32(seconds);
  else writer.int64(seconds);
  writer.uint32(SECONDS);
}

function writeStruct(object: JsonObject, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  const keys = Object.keys(object);
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] as string; // index is within bounds
    const value = object[key];
    if (value === undefined) continue;
    const from = writer.size;
    writeJson(value, depth + 1);
    writer.lengthSince(from);
    writeEntryKey(key, from, STRUCT_FIELD);
  }
}

function writeJson(value: unknown, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (typeof value === "string") {
    writer.string(value);
    writer.uint32(STRING);
  } else if (typeof value === "number" && Number.isFinite(value)) {
    writer.double(value);
    writer.uint32(NUMBER);
  } else if (typeof value === "boolean") {
    writer.bool(value);
    writer.uint32(BOOL);
  } else if (Array.isArray(value)) {
    const from = writer.size;
    writeList(value, depth);
    writer.lengthSince(from);
    writer.uint32(LIST);
  } else if (isObject(value)) {
    const from = writer.size;
    writeStruct(value, depth);
    writer.lengthSince(from);
    writer.uint32(STRUCT);
  } else {
    // Values that JSON cannot represent are null, as in `JSON.stringify`.
    writer.int32(0);
    writer.uint32(NULL);
  }
}

function writeList(items: readonly unknown[], depth: number): void {
  for (let index = items.length - 1; index >= 0; index--) {
    const from = writer.size;
    writeJson(items[index], depth + 1);
    writer.lengthSince(from);
    writer.uint32(LIST_ITEM);
  }
}

function textOf(field: Field, value: unknown): string {
  if (typeof value !== "string") throw wrong(field);
  return value;
}

function wrong({ path }: Field): AgentError {
  return new AgentError("encode", `${path} does not match its protobuf field`);
}

function tooDeep(): AgentError {
  return new AgentError("encode", `the content is nested deeper than ${MAX_DEPTH} levels`);
}
