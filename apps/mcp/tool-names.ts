import type { Maybe } from "../../src/index.js";

/** Assistants put the name of the server before it and allow 64 characters for both. */
const NAME_CHARS = 48;

/** Letters, digits, underscores and dashes: what every assistant takes. Undefined where nothing of the text is left. */
export function safeName(text: string): Maybe<string> {
  const name = text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^[_-]+|[_-]+$/g, "")
    .slice(0, NAME_CHARS);
  return name === "" ? undefined : name;
}

/**
 * Gives each thing a name of its own and never takes it back: what somebody has allowed under a name must not become
 * something else while this runs.
 */
export class NameBook {
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(reserved: readonly string[] = []) {
    for (const name of reserved) this.#taken.add(name.toLowerCase());
  }

  /** The name of this key, made from the wanted text when it is asked for the first time. */
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
