import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { AgentError, isObject, type JsonObject } from "../../../envelope/index.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { readTimestamp } from "../../../transport/timestamp.js";
import type { Field, MessageType } from "./schema.js";
import { BOOL, KEY, LIST, LIST_ITEM, NANOS, NULL, NUMBER, SECONDS, STRING, STRUCT, STRUCT_FIELD, VALUE } from "./well-known.js";

/** Limit of JSON depth, to avoid a stack overflow. */
const MAX_DEPTH = 200;
/** The buffer is reused between messages, unless it grew beyond this size. */
const KEPT_BYTES = 64 * 1024;

let writer = new BinaryWriter();

/** Encodes a ProtoJSON object, after `room` reserved bytes. Unknown members are omitted. */
export function encodeMessage(type: MessageType, value: JsonObject, room: Uint8Array): Uint8Array {
  try {
    writer.raw(room);
    writeFields(type, value, 0);
    const bytes = writer.finish();
    if (bytes.length > KEPT_BYTES) writer = new BinaryWriter();
    return bytes;
  } catch (thrown) {
    // Discards the partial message before the next one.
    writer = new BinaryWriter();
    if (thrown instanceof AgentError) throw thrown;
    throw new AgentError("encode", `the ${type.name} cannot be written as protobuf`, { cause: thrown });
  }
}

function writeFields(type: MessageType, object: JsonObject, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  for (const field of type.fields) {
    const value = object[field.name];
    if (value === undefined || (value === null && field.kind !== "value")) continue;
    if (field.label === "repeated") writeRepeated(field, value, depth);
    else if (field.label === "map") writeMap(field, value, depth);
    else writeValue(field, value, depth);
  }
}

function writeRepeated(field: Field, value: unknown, depth: number): void {
  if (!Array.isArray(value)) throw wrong(field);
  for (const item of value) {
    if (field.kind === "message") writeNested(field, item, depth);
    else if (field.kind === "bytes") writer.uint32(field.tag).bytes(readBase64(textOf(field, item), field.path));
    else writer.uint32(field.tag).string(textOf(field, item));
  }
}

function writeMap(field: Field, value: unknown, depth: number): void {
  if (!isObject(value)) throw wrong(field);
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    writer.uint32(field.tag).fork().uint32(KEY).string(key).uint32(VALUE);
    if (field.message === undefined) writer.string(textOf(field, item));
    else writeBody(field, item, depth);
    writer.join();
  }
}

/** One value. A plain field with its default value is omitted. */
function writeValue(field: Field, value: unknown, depth: number): void {
  switch (field.kind) {
    case "string":
      if (value !== "" || field.counts) writer.uint32(field.tag).string(textOf(field, value));
      break;
    case "message":
      writeNested(field, value, depth);
      break;
    case "enum":
      writeNumber(field, field.enumeration?.numbers.get(value));
      break;
    case "int32":
      writeNumber(field, value);
      break;
    case "bool":
      if (typeof value !== "boolean") throw wrong(field);
      if (value || field.counts) writer.uint32(field.tag).bool(value);
      break;
    case "bytes":
      if (value !== "" || field.counts) writer.uint32(field.tag).bytes(readBase64(value, field.name));
      break;
    case "timestamp":
      writer.uint32(field.tag).fork();
      writeTimestampFields(readTimestamp(value, field.name));
      writer.join();
      break;
    case "struct":
      if (!isObject(value)) throw wrong(field);
      writer.uint32(field.tag).fork();
      writeStruct(value, depth + 1);
      writer.join();
      break;
    case "value":
      writer.uint32(field.tag).fork();
      writeJson(value, depth + 1);
      writer.join();
      break;
    default:
      field.kind satisfies never;
  }
}

function writeNested(field: Field, value: unknown, depth: number): void {
  writer.uint32(field.tag);
  writeBody(field, value, depth);
}

function writeBody(field: Field, value: unknown, depth: number): void {
  if (!isObject(value) || field.message === undefined) throw wrong(field);
  writer.fork();
  writeFields(field.message, value, depth + 1);
  writer.join();
}

function writeNumber(field: Field, value: unknown): void {
  if (typeof value !== "number") throw wrong(field);
  if (value !== 0 || field.counts) writer.uint32(field.tag).int32(value);
}

function writeTimestampFields(ms: number): void {
  const seconds = Math.floor(ms / 1000);
  const milli = ms - seconds * 1000;
  // Fast path until the year 2106.
  if (seconds > 0 && seconds <= 0xffffffff) writer.uint32(SECONDS).uint32(seconds);
  else if (seconds !== 0) writer.uint32(SECONDS).int64(seconds);
  if (milli !== 0) writer.uint32(NANOS).int32(milli * 1_000_000);
}

function writeStruct(object: JsonObject, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    writer.uint32(STRUCT_FIELD).fork().uint32(KEY).string(key).uint32(VALUE).fork();
    writeJson(value, depth + 1);
    writer.join().join();
  }
}

function writeJson(value: unknown, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (typeof value === "string") writer.uint32(STRING).string(value);
  else if (typeof value === "number" && Number.isFinite(value)) writer.uint32(NUMBER).double(value);
  else if (typeof value === "boolean") writer.uint32(BOOL).bool(value);
  else if (Array.isArray(value)) writeList(value, depth);
  else if (isObject(value)) {
    writer.uint32(STRUCT).fork();
    writeStruct(value, depth);
    writer.join();
  }
  // Values that JSON cannot represent are null, as in `JSON.stringify`.
  else writer.uint32(NULL).int32(0);
}

function writeList(items: readonly unknown[], depth: number): void {
  writer.uint32(LIST).fork();
  for (const item of items) {
    writer.uint32(LIST_ITEM).fork();
    writeJson(item, depth + 1);
    writer.join();
  }
  writer.join();
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
