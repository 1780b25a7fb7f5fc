import type { Maybe, TaskEvent } from "../../../envelope/index.js";

/** Tasks remembered in one generation; there are two. */
const TASKS_REMEMBERED = 512;
/** Longer journals are read from the file. */
const LONGEST_REMEMBERED_BYTES = 16 * 1024;

/** Some entries of a task, and how long its journal is with them. */
export interface WrittenEntries {
  readonly taskId: string;
  readonly first: number;
  readonly events: readonly TaskEvent[];
  readonly bytes: number;
}

/**
 * Entries this process wrote recently, so that the answer to a send is not read and parsed again. Entries are immutable and
 * cached after their commit only; existence and length of a task always come from the file.
 */
export class RecentEntries {
  #young = new Map<string, TaskEvent[]>();
  #old = new Map<string, TaskEvent[]>();
  #written: WrittenEntries[] = [];

  /** Called when a transaction begins. */
  forget(): void {
    this.#written = [];
  }

  note(written: WrittenEntries): void {
    this.#written.push(written);
  }

  /** The transaction is committed. */
  keep(): void {
    for (const written of this.#written) this.#remember(written);
    this.#written = [];
  }

  /** The journal from its first entry on, at least to entry `to`. */
  upTo(taskId: string, to: number): Maybe<readonly TaskEvent[]> {
    const events = this.#young.get(taskId) ?? this.#old.get(taskId);
    return events !== undefined && events.length >= to ? events : undefined;
  }

  #remember({ taskId, first, events, bytes }: WrittenEntries): void {
    const before = first === 1 ? [] : (this.#young.get(taskId) ?? this.#old.get(taskId));
    if (before === undefined) return;
    if (before.length !== first - 1 || bytes > LONGEST_REMEMBERED_BYTES) {
      this.#young.delete(taskId);
      this.#old.delete(taskId);
      return;
    }
    before.push(...events);
    this.#young.set(taskId, before);
    if (this.#young.size < TASKS_REMEMBERED) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
