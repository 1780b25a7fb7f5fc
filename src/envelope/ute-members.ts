import { isObject, type Json, type JsonObject, type Maybe, type Metadata } from "./json.js";
import { invalid } from "./ute-content.js";

/** Reads the known members of one object and keeps the rest, so that nothing is lost when writing it back. */
export class MemberReader {
  readonly #source: JsonObject;
  readonly #path: string;
  readonly #taken = new Set<string>();

  constructor(source: unknown, path: string) {
    if (!isObject(source)) throw invalid(path, source === undefined ? "is missing" : "must be an object");
    this.#source = source;
    this.#path = path;
  }

  /** A member defined by UTE: absent or null is undefined, and a value of another type is refused. */
  standard<T>(name: string, read: (value: Json) => Maybe<T>, expected: string): Maybe<T> {
    const value = this.#own(name);
    if (value === undefined || value === null) return undefined;
    const parsed = read(value);
    const field = this.#path === "" ? name : `${this.#path}.${name}`;
    if (parsed === undefined) throw invalid(field, `must be ${expected}`);
    this.#taken.add(name);
    return parsed;
  }

  /** A member added by Koine: a value in another format belongs to someone else and stays in the rest. */
  extension<T>(name: string, read: (value: Json) => Maybe<T>): Maybe<T> {
    const value = this.#own(name);
    const parsed = value === undefined ? undefined : read(value);
    if (parsed !== undefined) this.#taken.add(name);
    return parsed;
  }

  /** Marks a member as handled elsewhere. */
  take(name: string): Maybe<Json> {
    this.#taken.add(name);
    return this.#own(name);
  }

  /** Returns a member to the rest: its value is the default, which is not written. */
  putBack(name: string): void {
    this.#taken.delete(name);
  }

  /** Everything not taken, with its original value. */
  rest(): Metadata {
    return Object.fromEntries(Object.entries(this.#source).filter(([name]) => !this.#taken.has(name)));
  }

  #own(name: string): Maybe<Json> {
    return Object.hasOwn(this.#source, name) ? this.#source[name] : undefined;
  }
}

/** An object of the defined members in this order, followed by those of `rest` whose names are free. */
export function joinMembers(known: readonly (readonly [string, Maybe<Json>])[], rest: Maybe<Json>): JsonObject {
  const members = known.filter(([, value]) => value !== undefined);
  const written = new Set(members.map(([name]) => name));
  if (isObject(rest)) for (const member of Object.entries(rest)) if (!written.has(member[0])) members.push(member);
  // fromEntries defines members instead of assigning them, so `__proto__` is an ordinary name.
  return Object.fromEntries(members);
}

/** Readers of one value: undefined for another type. */
export const asString = (value: Json): Maybe<string> => (typeof value === "string" ? value : undefined);
export const asBoolean = (value: Json): Maybe<boolean> => (typeof value === "boolean" ? value : undefined);
export const asNumber = (value: Json): Maybe<number> => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
export const asCount = (value: Json): Maybe<number> =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
export const asObject = (value: Json): Maybe<Metadata> => (isObject(value) ? value : undefined);
export const asStrings = (value: Json): Maybe<readonly string[]> =>
  Array.isArray(value) && value.every((item): item is string => typeof item === "string") ? value : undefined;
