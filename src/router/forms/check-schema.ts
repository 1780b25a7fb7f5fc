import { isObject, type JsonObject } from "../../envelope/index.js";
import { kindOf, Malformed } from "./members.js";
import { suggestion } from "./nearest.js";
import type { Schema } from "./own-schema.js";

/** Schemas by the last segment of their `$ref`. */
export interface Definitions {
  readonly [name: string]: Schema;
}

/** Throws the first violation of the schema: where it is, and what is expected. */
export function checkSchema(value: unknown, schema: Schema, definitions: Definitions, where = ""): void {
  const found = resolved(schema, definitions);
  checkType(value, found, where);
  if (typeof value === "string") checkText(value, found, where);
  else if (Array.isArray(value)) checkList(value, found, definitions, where);
  else if (isObject(value)) checkObject(value, found, definitions, where);
}

function resolved(schema: Schema, definitions: Definitions): Schema {
  const { $ref } = schema;
  if ($ref === undefined) return schema;
  const named = definitions[$ref.slice($ref.lastIndexOf("/") + 1)];
  if (named === undefined) throw new RangeError(`the schema has no ${$ref}`);
  return named;
}

const CALLED: { readonly [type: string]: string } = { string: "text", array: "a list", object: "an object" };

function checkType(value: unknown, { type }: Schema, where: string): void {
  const types = type === undefined ? [] : typeof type === "string" ? [type] : type;
  const is = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  if (types.length === 0 || types.includes(is)) return;
  const wanted = types.map((each) => CALLED[each] ?? each).join(" or ");
  const quotes = is === "number" && types.includes("string") ? ": put it in quotes" : "";
  throw new Malformed(where, `must be ${wanted}, not ${kindOf(value)}${quotes}`);
}

function checkText(value: string, { enum: words, pattern, maxLength }: Schema, where: string): void {
  if (words !== undefined && !words.includes(value))
    throw new Malformed(where, `is not known: ${shown(value)}; ${suggestion(value, words)}`);
  if (maxLength !== undefined && value.length > maxLength) throw new Malformed(where, `is longer than ${maxLength} characters`);
  if (pattern === undefined || new RegExp(pattern, "u").test(value)) return;
  throw new Malformed(where, value.trim() === "" ? "is empty" : `is ${shown(value)}, which does not match ${pattern}`);
}

function checkList(list: readonly unknown[], schema: Schema, definitions: Definitions, where: string): void {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (list.length < minItems) throw new Malformed(where, `has ${list.length} items, and needs ${minItems}`);
  if (list.length > maxItems) throw new Malformed(where, `has ${list.length} items, and may have ${maxItems}`);
  if (items === undefined) return;
  for (const [index, item] of list.entries()) checkSchema(item, items, definitions, `${where}[${index}]`);
}

function checkObject(value: JsonObject, schema: Schema, definitions: Definitions, where: string): void {
  const { properties = {}, required = [], additionalProperties } = schema;
  const at = (name: string): string => (where === "" ? name : `${where}.${name}`);
  const known = Object.keys(properties);
  for (const [name, member] of Object.entries(value)) {
    const expected = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (expected !== undefined) checkSchema(member, expected, definitions, at(name));
    else if (additionalProperties === false) throw new Malformed(at(name), `is not known; ${suggestion(name, known)}`);
  }
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) throw new Malformed(at(missing), "is missing");
}

/** A value in an error message, truncated if it is long. */
function shown(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
