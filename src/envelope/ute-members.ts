import { isObject, type Json, type JsonObject, type Maybe, type Metadata } from "./json.js";
import { invalid } from "./ute-content.js";

/** Takes the known members out of one object of a document and keeps the rest, so that nothing is lost on the way back. */
export class MemberReader {
  readonly #source: JsonObject;
  readonly #path: string;
  readonly #taken = new Set<string>();

  constructor(source: unknown, path: string) {
    if (!isObject(source)) throw invalid(path, source === undefined ? "is missing" : "must be an object");
    this.#source = source;
    this.#path = path;
  }

  /** A member with a name of the seed: absent or null is undefined, and a value of another type is refused. */
  seed<T>(name: string, read: (value: Json) => Maybe<T>, expected: string): Maybe<T> {
    const value = this.#own(name);
    if (value === undefined || value === null) return undefined;
    const got = read(value);
    const field = this.#path === "" ? name : `${this.#path}.${name}`;
    if (got === undefined) throw invalid(field, `must be ${expected}`);
    this.#taken.add(name);
    return got;
  }

  /** A member with a name we added: a value that is not in our form is somebody else's, and stays with the rest. */
  ours<T>(name: string, read: (value: Json) => Maybe<T>): Maybe<T> {
    const value = this.#own(name);
    const got = value === undefined ? undefined : read(value);
    if (got !== undefined) this.#taken.add(name);
    return got;
  }

  /** Marks a member as dealt with elsewhere. */
  take(name: string): Maybe<Json> {
    this.#taken.add(name);
    return this.#own(name);
  }

  /** Gives a member back: its value is the default, which is not written. */
  leave(name: string): void {
    this.#taken.delete(name);
  }

  /** Everything not taken, with the value it had. */
  rest(): Metadata {
    return Object.fromEntries(Object.entries(this.#source).filter(([name]) => !this.#taken.has(name)));
  }

  #own(name: string): Maybe<Json> {
    return Object.hasOwn(this.#source, name) ? this.#source[name] : undefined;
  }
}

/** An object of the members that have a value, in this order, then those of `rest` whose names are still free. */
export function joinMembers(known: readonly (readonly [string, Maybe<Json>])[], rest: Maybe<Json>): JsonObject {
  const members = known.filter(([, value]) => value !== undefined);
  const written = new Set(members.map(([name]) => name));
  if (isObject(rest)) for (const member of Object.entries(rest)) if (!written.has(member[0])) members.push(member);
  // fromEntries defines members, it does not assign them: `__proto__` stays an ordinary name.
  return Object.fromEntries(members);
}

/** Readers of one value: undefined for a value of another type. */
export const asString = (value: Json): Maybe<string> => (typeof value === "string" ? value : undefined);
export const asBoolean = (value: Json): Maybe<boolean> => (typeof value === "boolean" ? value : undefined);
export const asNumber = (value: Json): Maybe<number> => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
export const asCount = (value: Json): Maybe<number> =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
export const asObject = (value: Json): Maybe<Metadata> => (isObject(value) ? value : undefined);
export const asStrings = (value: Json): Maybe<readonly string[]> =>
  Array.isArray(value) && value.every((item): item is string => typeof item === "string") ? value : undefined;
