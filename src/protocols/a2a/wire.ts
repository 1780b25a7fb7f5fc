import { isObject, type JsonObject, type LossSink, type Maybe, type Metadata } from "../../envelope/index.js";
import { DecodeProblem, kindOf, readInteger, readObject, readString, readStrings } from "../../transport/fields.js";

/** The params of a request: absent or null is read as an empty object. */
export function readParams(params: unknown): JsonObject {
  return params === undefined || params === null ? NO_PARAMS : readObject(params, "params");
}
const NO_PARAMS: JsonObject = Object.freeze({});

/** A plain string: ProtoJSON does not distinguish absent, null and empty. */
export function plain(value: unknown, path: string): Maybe<string> {
  if (value === undefined || value === null) return undefined;
  const text = readString(value, path);
  return text === "" ? undefined : text;
}

/** A repeated string: empty and absent are equivalent. */
export function plainStrings(value: unknown, path: string): Maybe<readonly string[]> {
  if (value === undefined || value === null) return undefined;
  const items = readStrings(value, path);
  return items.length === 0 ? undefined : items;
}

/** A list to write: omitted if empty. */
export function someOf<T>(items: Maybe<readonly T[]>): Maybe<readonly T[]> {
  return items === undefined || items.length === 0 ? undefined : items;
}

/** Omitted if empty, like proto3 defaults. */
export function someText(text: Maybe<string>): Maybe<string> {
  return text === "" ? undefined : text;
}

export function readMetadata(value: unknown, path: string): Maybe<Metadata> {
  return value === undefined || value === null ? undefined : readObject(value, path);
}

/** A boolean; `"true"` and `"false"` come from query strings. */
export function flag(value: unknown, path: string): Maybe<boolean> {
  if (value === undefined || value === null) return undefined;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new DecodeProblem(path, "must be true or false");
}

/** `optional int32`: zero and absent are different (A2A 1.0 §5.7). */
export function whole(value: unknown, path: string): Maybe<number> {
  return value === undefined || value === null ? undefined : readInteger(value, path);
}

/** A2A 1.0 §3.2.4: a negative history length is invalid. */
export function historyLengthOf(value: unknown, path: string): Maybe<number> {
  const length = whole(value, path);
  if (length !== undefined && length < 0) throw new DecodeProblem(path, `must not be negative, but is ${length}`);
  return length;
}

/** A peer's value for an error message, truncated. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : kindOf(value);
}

/**
 * Members of an answer that only describe it. One that cannot be read is dropped and reported: it is no reason to refuse the
 * answer.
 */
export function dropped(path: string, value: unknown, expected: string, reportLoss: LossSink): undefined {
  const valueKind = Array.isArray(value) ? "array" : typeof value;
  reportLoss({ protocol: "a2a", path: modelPath(path), valueKind, reason: `is not ${expected}; ignored` });
}

/** Losses are named by the envelope model, whatever the operation that returned the task. */
function modelPath(path: string): string {
  return path.replace(/^result\.(?:(?=message\.)|(?:task\.)?)/, (all) =>
    path.startsWith("message.", all.length) ? "" : "task.",
  );
}

export function decorativeText(value: unknown, path: string, reportLoss: LossSink): Maybe<string> {
  if (value === undefined || value === null || value === "") return undefined;
  return typeof value === "string" ? value : dropped(path, value, "a string", reportLoss);
}

export function decorativeStrings(value: unknown, path: string, reportLoss: LossSink): Maybe<readonly string[]> {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every(isString)) return dropped(path, value, "a list of strings", reportLoss);
  return value.length === 0 ? undefined : value;
}

export function decorativeMetadata(value: unknown, path: string, reportLoss: LossSink): Maybe<Metadata> {
  if (value === undefined || value === null) return undefined;
  return isObject(value) ? value : dropped(path, value, "an object", reportLoss);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
