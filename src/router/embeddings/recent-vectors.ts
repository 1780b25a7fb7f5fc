import type { Maybe } from "../../envelope/index.js";

/** The values asked for last; the one that was not asked for longest makes room for a new one. */
export class Recent<Value> {
  readonly #limit: number;
  /** A map keeps the order of insertion, so its first entry is the oldest. */
  readonly #values = new Map<string, Value>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Maybe<Value> {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#limit) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }
}
