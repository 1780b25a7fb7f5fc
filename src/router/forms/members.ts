import { isObject, type JsonObject, type Maybe } from "../../envelope/index.js";
import { CHARACTERS_PER_MODULE, CHARACTERS_PER_NAME } from "./limits.js";

/** A problem of a record, with its path. Internal to this folder: the scenario is excluded with this reason. */
export class Malformed extends Error {
  readonly where: string;
  readonly because: string;

  constructor(where: string, because: string) {
    super(`${where} ${because}`);
    this.name = "Malformed";
    this.where = where;
    this.because = because;
  }
}

/** The members of one object by name. Null counts as absent. */
export class Members {
  readonly #source: JsonObject;
  readonly #path: string;

  constructor(source: unknown, path: string) {
    if (!isObject(source)) throw new Malformed(path, source === undefined ? "is missing" : "must be an object");
    this.#source = source;
    this.#path = path;
  }

  /** The path of a member, for error messages. */
  at(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#source, name) ? (this.#source[name] ?? undefined) : undefined;
  }

  /** A non-empty text. */
  text(name: string): Maybe<string> {
    return this.has(name) ? this.neededText(name) : undefined;
  }

  neededText(name: string, limit = CHARACTERS_PER_MODULE): string {
    return textAt(this.value(name), this.at(name), limit);
  }

  /** An id or name: a short text. */
  name(name: string): Maybe<string> {
    return this.has(name) ? this.neededText(name, CHARACTERS_PER_NAME) : undefined;
  }

  neededName(name: string): string {
    return this.neededText(name, CHARACTERS_PER_NAME);
  }

  /** An optional text; empty if absent. */
  looseText(name: string): string {
    return this.value(name) === "" ? "" : (this.text(name) ?? "");
  }

  list(name: string): Maybe<readonly unknown[]> {
    const value = this.value(name);
    if (value !== undefined && !Array.isArray(value)) throw new Malformed(this.at(name), "must be a list");
    return value;
  }

  /** A list of texts; empty if absent. */
  texts(name: string): readonly string[] {
    return (this.list(name) ?? []).map((item, index) => textAt(item, `${this.at(name)}[${index}]`, CHARACTERS_PER_MODULE));
  }
}

function textAt(value: unknown, where: string, limit: number): string {
  if (value === undefined || value === null) throw new Malformed(where, "is missing");
  if (typeof value !== "string") throw new Malformed(where, `must be text, not ${kindOf(value)}`);
  if (value.trim() === "") throw new Malformed(where, "is empty");
  if (value.length > limit) throw new Malformed(where, `is longer than ${limit} characters`);
  return value;
}

/** The name of a value's type, for error messages. */
export function kindOf(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : typeof value === "string" ? "text" : `a ${typeof value}`;
}
