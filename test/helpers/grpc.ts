import fc from "fast-check";
import type { Json, JsonObject } from "../../src/envelope/index.js";
import type { Field, MessageType } from "../../src/protocols/a2a/grpc/schema.js";
import { writeTimestamp } from "../../src/transport/timestamp.js";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
// Through text and back: text has no negative zero, and no name that JSON.parse treats specially.
const json = fc
  .jsonValue({ maxDepth: 3, stringUnit: "grapheme" })
  .map((value) => JSON.stringify(value))
  .filter((written) => !written.includes("__proto__"))
  .map((written): Json => JSON.parse(written));
/** Excludes the one name that the official SDK loses. */
const key = text.filter((name) => name !== "__proto__");
const object = fc.dictionary(key, json, { maxKeys: 3 });
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Any ProtoJSON object of a message in canonical form: no plain member at its default, no empty list. */
export function anyMessage(type: MessageType, depth = 0): fc.Arbitrary<JsonObject> {
  const fixed: Record<string, fc.Arbitrary<unknown>> = {};
  const choices: fc.Arbitrary<JsonObject>[] = [];
  for (const field of type.fields) {
    // Messages may be recursive; the depth is limited.
    if (depth > 3 && field.kind === "message" && field.label !== "oneof") continue;
    const value = anyField(field, depth);
    if (field.label === "oneof")
      choices.push(value.map((one) => ({ [field.name]: one as Json }))); // members of a message are JSON
    else fixed[field.name] = value;
  }
  const always = type.always.map(({ name }) => name);
  const members = fc.record(fixed, { requiredKeys: always }) as fc.Arbitrary<JsonObject>; // members of a message are JSON
  if (choices.length === 0) return members;
  return fc.tuple(members, fc.oneof(...choices)).map(([some, one]) => ({ ...some, ...one }));
}

function anyField(field: Field, depth: number): fc.Arbitrary<unknown> {
  const one = anyValue(field, depth);
  if (field.label === "repeated") return fc.array(one, { minLength: 1, maxLength: 2 });
  return field.label === "map" ? fc.dictionary(key, one, { minKeys: 1, maxKeys: 2 }) : one;
}

function anyValue({ kind, label, message, enumeration }: Field, depth: number): fc.Arbitrary<unknown> {
  const free = label === "optional" || label === "oneof" || label === "always";
  switch (kind) {
    case "string":
      return free ? fc.string({ unit: "grapheme", maxLength: 40 }) : text;
    case "bytes":
      return fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    case "bool":
      return free ? fc.boolean() : fc.constant(true);
    case "int32":
      return fc.integer().filter((number) => free || number !== 0);
    case "enum":
      return fc.constantFrom(...(enumeration?.names ?? []).slice(free ? 0 : 1));
    case "timestamp":
      return fc.integer({ min: FIRST_MS, max: LAST_MS }).map(writeTimestamp);
    case "struct":
      return object;
    case "value":
      // The official SDK, which this is compared with, loses a null here.
      return json.filter((value) => value !== null);
    case "message":
      return message === undefined ? fc.constant({}) : anyMessage(message, depth + 1);
    default:
      return kind satisfies never;
  }
}
