import type { Maybe } from "../../../envelope/index.js";
import type { SealMark } from "../seal-marker.js";
import type { CommitQueue } from "./commit-queue.js";
import type { Connection, Statement } from "./library.js";
import type { TaskTable } from "./task-table.js";

/** The mark of a sealed file. */
export class SealTable implements SealMark {
  readonly #queue: CommitQueue;
  readonly #tasks: TaskTable;
  readonly #select: Statement<readonly [string]>;
  readonly #insert: Statement<readonly []>;

  constructor(connection: Connection, uses: { readonly queue: CommitQueue; readonly tasks: TaskTable }) {
    this.#queue = uses.queue;
    this.#tasks = uses.tasks;
    this.#select = connection.prepare("SELECT mark FROM seal");
    this.#insert = connection.prepare("INSERT OR IGNORE INTO seal (one, mark) VALUES (1, ?)");
  }

  read(): Promise<Maybe<string>> {
    return this.#queue.do("read", () => this.#select.get([])?.[0]);
  }

  add(mark: string): Promise<string> {
    return this.#queue.do("write", () => {
      this.#insert.run([mark]);
      return this.#select.get([])?.[0] ?? mark;
    });
  }

  hasTasks(): Promise<boolean> {
    return this.#queue.do("read", () => this.#tasks.hasAny());
  }
}
