import { AgentError, type ErrorCode, isObject, type Json, type JsonObject, type Maybe } from "../envelope/index.js";

/**
 * A decoding problem and its field. Assigns no blame: the caller of the decoder knows whether the message came from a client
 * (`invalid_message`) or from the peer (`bad_peer`).
 */
export class DecodeProblem extends Error {
  constructor(
    readonly field: string,
    readonly problem: string,
    /** Set if the protocol has a specific error for this. */
    readonly code?: ErrorCode,
  ) {
    super(field === "" ? problem : `${field} ${problem}`);
  }
}

/** Converts a decoding problem to an error with the given blame; anything else passes unchanged. */
export function blame(thrown: unknown, code: "invalid_message" | "bad_peer"): AgentError {
  if (!(thrown instanceof DecodeProblem)) return AgentError.from(thrown);
  return new AgentError(code === "bad_peer" ? code : (thrown.code ?? code), thrown.message, {
    field: thrown.field,
    cause: thrown,
  });
}

export function readObject(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value;
  throw new DecodeProblem(
    path,
    value === undefined ? "is missing; an object is expected" : `must be an object, not ${kindOf(value)}`,
  );
}

/** An optional member; `null` reads as absent. */
export function optional<T>(value: unknown, path: string, read: (value: unknown, path: string) => T): Maybe<T> {
  return value === undefined || value === null ? undefined : read(value, path);
}

export function readString(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw new DecodeProblem(
    path,
    value === undefined || value === null ? "is missing; a string is expected" : `must be a string, not ${kindOf(value)}`,
  );
}

/** A non-empty string. */
export function readText(value: unknown, path: string): string {
  const text = readString(value, path);
  if (text === "") throw new DecodeProblem(path, "must not be empty");
  return text;
}

export function readBoolean(value: unknown, path: string): boolean {
  if (typeof value === "boolean") return value;
  throw new DecodeProblem(path, `must be true or false, not ${kindOf(value)}`);
}

/** An integer; a decimal string is also accepted, as in ProtoJSON. */
export function readInteger(value: unknown, path: string): number {
  const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw new DecodeProblem(path, `must be a whole number, not ${kindOf(value)}`);
}

export function readArray<T>(value: unknown, path: string, read: (value: unknown, path: string) => T): readonly T[] {
  if (!Array.isArray(value))
    throw new DecodeProblem(
      path,
      value === undefined ? "is missing; an array is expected" : `must be an array, not ${kindOf(value)}`,
    );
  const items: T[] = [];
  for (let index = 0; index < value.length; index++) items.push(read(value[index], `${path}[${index}]`));
  return items;
}

export function readStrings(value: unknown, path: string): readonly string[] {
  return readArray(value, path, readString);
}

/** A member of a parsed document, so it is JSON. */
export function readJsonValue(value: unknown): Json {
  return value as Json; // only ever called on members of a parsed document
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return "a string";
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : "a fraction";
  return typeof value === "boolean" ? "a boolean" : typeof value;
}
