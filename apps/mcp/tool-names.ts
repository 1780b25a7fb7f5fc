import type { Maybe } from "../../src/index.js";

/** Assistants prefix the server name and allow 64 characters in total. */
const NAME_CHARS = 48;

/** Reduces text to letters, digits, underscores and dashes; undefined if nothing is left. */
export function safeName(text: string): Maybe<string> {
  const name = text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^[_-]+|[_-]+$/g, "")
    .slice(0, NAME_CHARS);
  return name === "" ? undefined : name;
}

/**
 * Assigns a unique, permanent name to each key: a tool that a user has allowed must not change its meaning.
 */
export class UniqueNames {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(reserved: readonly string[] = []) {
    for (const name of reserved) this.#taken.add(name.toLowerCase());
  }

  /** The name of a key, derived from the wanted text on first use. */
  nameFor(key: string, wanted: string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = this.#free(safeName(wanted) ?? "agent");
    this.#names.set(key, name);
    this.#taken.add(name.toLowerCase());
    return name;
  }

  #free(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#taken.has(name.toLowerCase()); count++) {
      const end = `_${count}`;
      name = `${wanted.slice(0, NAME_CHARS - end.length)}${end}`;
    }
    return name;
  }
}
