import { BinaryReader } from "@bufbuild/protobuf/wire";
import { encodeBase64, type Json } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import type { JsonLimits } from "../../../transport/json.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import type { Field, MessageType } from "./schema.js";
import { BOOL, KEY, LIST, LIST_ITEM, NANOS, NULL, NUMBER, SECONDS, STRING, STRUCT, STRUCT_FIELD, VALUE } from "./well-known.js";

/** A list item has two fields on the wire and a struct member four: one and two values in the count of JSON. */
const FIELDS_PER_VALUE = 2;

/** The wire type of a group; the tag that ends it is greater by one. */
const START_GROUP = 3;

type Tree = { [name: string]: Json };

/**
 * Decodes a message to its ProtoJSON object. Unknown fields are skipped; repeated fields are merged or replaced as protobuf
 * defines; the last member of a oneof wins. Throws only DecodeProblem.
 */
export function decodeMessage(type: MessageType, bytes: Uint8Array, limits: JsonLimits): Tree {
  const source = new Source(bytes, limits);
  try {
    const object: Tree = {};
    source.fields(type, bytes.length, 0, object);
    return object;
  } catch (thrown) {
    if (thrown instanceof DecodeProblem) throw thrown;
    // The reader found a truncated or invalid value.
    throw malformed(type.name);
  }
}

/** A sequential reader of one message. */
class Source {
  readonly #reader: BinaryReader;
  readonly #maxDepth: number;
  readonly #maxFields: number;
  #fields = 0;

  constructor(bytes: Uint8Array, { jsonDepth, jsonValues }: JsonLimits) {
    this.#reader = new BinaryReader(bytes);
    this.#maxDepth = jsonDepth;
    this.#maxFields = jsonValues * FIELDS_PER_VALUE;
  }

  fields(type: MessageType, end: number, depth: number, into: Tree): void {
    const reader = this.#reader;
    if (depth > this.#maxDepth) throw new DecodeProblem(type.name, `is nested deeper than ${this.#maxDepth} levels`);
    let chosen: string | undefined;
    while (reader.pos < end) {
      const tag = this.#tag();
      const field = type.byNumber[tag >>> 3];
      if (field === undefined || field.tag !== tag) {
        this.#skip(tag);
        continue;
      }
      if (field.label === "repeated") this.#append(field, depth, into);
      else if (field.label === "map") this.#entry(field, depth, into);
      else {
        if (field.label === "oneof") {
          if (chosen !== undefined && chosen !== field.name) delete into[chosen];
          chosen = field.name;
        }
        into[field.name] = this.#value(field, depth, into[field.name]);
      }
    }
    this.#ends(type.name, end);
    for (const field of type.always) into[field.name] ??= field.kind === "string" ? "" : 0;
  }

  #append(field: Field, depth: number, into: Tree): void {
    const value = this.#value(field, depth, undefined);
    const list = into[field.name];
    if (Array.isArray(list)) list.push(value);
    else into[field.name] = [value];
  }

  #value(field: Field, depth: number, before: Json | undefined): Json {
    const reader = this.#reader;
    switch (field.kind) {
      case "string":
        return this.#text(field.path);
      case "message": {
        const end = this.#end();
        const object = isTree(before) ? before : {};
        if (field.message !== undefined) this.fields(field.message, end, depth + 1, object);
        return object;
      }
      case "enum": {
        const number = reader.int32();
        return field.enumeration?.names[number] ?? number;
      }
      case "bool":
        return reader.bool();
      case "int32":
        return reader.int32();
      case "bytes":
        return encodeBase64(reader.bytes());
      case "timestamp":
        return this.#timestamp(this.#end(), field.path);
      case "struct": {
        const object = isTree(before) ? before : {};
        this.#struct(this.#end(), depth + 1, object);
        return object;
      }
      case "value":
        return this.#json(this.#end(), depth + 1);
      default:
        return field.kind satisfies never;
    }
  }

  /** One map entry: key 1, value 2; either may be absent. */
  #entry({ name, path, message }: Field, depth: number, into: Tree): void {
    const reader = this.#reader;
    const end = this.#end();
    let key = "";
    let value: Json = message === undefined ? "" : {};
    while (reader.pos < end) {
      const tag = this.#tag();
      if (tag === KEY) key = this.#text(path);
      else if (tag !== VALUE) this.#skip(tag);
      else if (message === undefined) value = this.#text(path);
      else {
        const inner: Tree = {};
        this.fields(message, this.#end(), depth + 1, inner);
        value = inner;
      }
    }
    this.#ends(path, end);
    const map = into[name];
    const object: Tree = isTree(map) ? map : {};
    into[name] = object;
    define(object, key, value);
  }

  #struct(end: number, depth: number, into: Tree): void {
    const reader = this.#reader;
    if (depth > this.#maxDepth) throw new DecodeProblem("Struct", `is nested deeper than ${this.#maxDepth} levels`);
    while (reader.pos < end) {
      const tag = this.#tag();
      if (tag !== STRUCT_FIELD) {
        this.#skip(tag);
        continue;
      }
      const entryEnd = this.#end();
      let key = "";
      let value: Json = null;
      while (reader.pos < entryEnd) {
        const inner = this.#tag();
        if (inner === KEY) key = this.#text("Struct");
        else if (inner === VALUE) value = this.#json(this.#end(), depth + 1);
        else this.#skip(inner);
      }
      this.#ends("Struct", entryEnd);
      define(into, key, value);
    }
    this.#ends("Struct", end);
  }

  /** google.protobuf.Value; an empty one is null. */
  #json(end: number, depth: number): Json {
    const reader = this.#reader;
    if (depth > this.#maxDepth) throw new DecodeProblem("Value", `is nested deeper than ${this.#maxDepth} levels`);
    let value: Json = null;
    while (reader.pos < end) {
      const tag = this.#tag();
      switch (tag) {
        case NULL:
          reader.int32();
          value = null;
          break;
        case NUMBER:
          value = reader.double();
          if (!Number.isFinite(value)) throw new DecodeProblem("Value", "must be a finite number");
          break;
        case STRING:
          value = this.#text("Value");
          break;
        case BOOL:
          value = reader.bool();
          break;
        case STRUCT: {
          const object: Tree = {};
          this.#struct(this.#end(), depth, object);
          value = object;
          break;
        }
        case LIST:
          value = this.#list(this.#end(), depth + 1);
          break;
        default:
          this.#skip(tag);
      }
    }
    this.#ends("Value", end);
    return value;
  }

  #list(end: number, depth: number): Json[] {
    const reader = this.#reader;
    const items: Json[] = [];
    while (reader.pos < end) {
      const tag = this.#tag();
      if (tag !== LIST_ITEM) {
        this.#skip(tag);
        continue;
      }
      items.push(this.#json(this.#end(), depth));
    }
    this.#ends("ListValue", end);
    return items;
  }

  #timestamp(end: number, path: string): string {
    const reader = this.#reader;
    let seconds = 0;
    let nanos = 0;
    while (reader.pos < end) {
      const tag = this.#tag();
      if (tag === SECONDS) seconds = Number(reader.int64());
      else if (tag === NANOS) nanos = reader.int32();
      else this.#skip(tag);
    }
    this.#ends("Timestamp", end);
    // Some encoders write negative nanoseconds for times before 1970; the sum is used.
    const isKnown = seconds >= FIRST_SECOND && seconds <= LAST_SECOND && Math.abs(nanos) < 1_000_000_000;
    if (!isKnown) throw new DecodeProblem(path, "must be a time between the years 1 and 9999");
    return writeTimestamp(seconds * 1000 + Math.floor(nanos / 1_000_000));
  }

  #text(path: string): string {
    try {
      return this.#reader.string(true);
    } catch (thrown) {
      if (thrown instanceof TypeError) throw new DecodeProblem(path, "must be UTF-8");
      throw thrown;
    }
  }

  /** Where the value with this length ends. */
  #end(): number {
    const length = this.#reader.uint32();
    return this.#reader.pos + length;
  }

  /** A value must end exactly where its length says. */
  #ends(type: string, end: number): void {
    if (this.#reader.pos !== end) throw malformed(type);
  }

  /** Groups are skipped here and not by the reader, so that their fields count. */
  #skip(tag: number, depth = 0): void {
    const number = tag >>> 3;
    if (number === 0 || depth > this.#maxDepth) throw malformed(`field ${number}`);
    if ((tag & 7) !== START_GROUP) {
      this.#reader.skip(tag & 7, number);
      return;
    }
    for (let inner = this.#tag(); inner !== tag + 1; inner = this.#tag()) this.#skip(inner, depth + 1);
  }

  /** The next field, unknown ones included: two bytes on the wire cost fifty times as much to read. */
  #tag(): number {
    this.#fields += 1;
    if (this.#fields > this.#maxFields)
      throw new DecodeProblem("", `the message has more than ${this.#maxFields} fields; send large data as a file`, "too_large");
    return this.#reader.uint32();
  }
}

// The years 1 to 9999.
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

function isTree(value: Json | undefined): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A name chosen by the peer: `__proto__` must become an ordinary member. */
function define(object: Tree, key: string, value: Json): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

function malformed(type: string): DecodeProblem {
  return new DecodeProblem(type, "is not well-formed protobuf");
}
