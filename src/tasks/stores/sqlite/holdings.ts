import { nameFrom } from "./column-text.js";
import type { Connection, Statement } from "./library.js";

/** How much one owner keeps. `ended`: tasks that are closed. */
export interface Holding {
  tasks: number;
  bytes: number;
  ended: number;
}

/**
 * What each owner keeps. Counted from the file when a full store first asks, which reads every task; then kept up to date here as long
 * as no other process writes and no transaction is undone. Owners without tasks are not kept.
 */
export class Holdings {
  readonly #count: Statement<readonly [owner: string, tasks: number, bytes: number, ended: number]>;
  readonly #version: Statement<readonly [number]>;
  #known: Map<string, Holding> | undefined;
  #seenVersion = 0;
  #isOpen = false;

  constructor(connection: Connection) {
    this.#count = connection.prepare(
      "SELECT owner, count(*), sum(bytes), sum(rest IS NOT NULL AND closed = 1) FROM tasks GROUP BY owner",
    );
    // Increases when another connection commits, and reads no table.
    this.#version = connection.prepare("PRAGMA data_version");
  }

  /** A transaction begins. One that is still open was undone. */
  begin(): void {
    if (this.#known !== undefined && (this.#isOpen || this.#versionNow() !== this.#seenVersion)) this.#known = undefined;
    this.#isOpen = true;
  }

  committed(): void {
    this.#isOpen = false;
  }

  /** By owner. Tasks that this transaction made must be in the file. */
  all(): ReadonlyMap<string, Readonly<Holding>> {
    if (this.#known !== undefined) return this.#known;
    this.#seenVersion = this.#versionNow();
    this.#known = new Map(
      this.#count.intact([]).map(([owner, tasks, bytes, ended]) => [nameFrom(owner), { tasks, bytes, ended }]),
    );
    return this.#known;
  }

  add(owner: string, tasks: number, bytes: number, ended: number): void {
    if (this.#known === undefined) return;
    const holding = this.#known.get(owner) ?? { tasks: 0, bytes: 0, ended: 0 };
    holding.tasks += tasks;
    holding.bytes += bytes;
    holding.ended += ended;
    if (holding.tasks > 0) this.#known.set(owner, holding);
    else this.#known.delete(owner);
  }

  #versionNow(): number {
    return this.#version.get([])?.[0] ?? 0;
  }
}
