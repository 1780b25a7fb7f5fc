import type { Maybe } from "../../../envelope/index.js";
import { columnText } from "./column-text.js";
import type { Connection, Statement } from "./library.js";
import type { TaskRow } from "./task-row.js";

/** Rows that one statement writes; what is left over is written by the smaller ones. */
const ROWS_AT_ONCE = [16, 4, 1] as const;
/** The number of a task and that of an entry make the key of a row in the journal: this many bits are the entry's. */
const ENTRY_BITS = 20;
const ENTRIES_PER_TASK = 2 ** ENTRY_BITS;
/** A longer journal has no keys. One more is left for the status that closes a task. */
export const LONGEST_JOURNAL = ENTRIES_PER_TASK - 2;
/** JSON escapes line breaks in strings, so a raw one can separate entries. */
export const LINE_BREAK = "\n";

/** A task that this transaction made, as its rows will be. */
export interface MadeTask {
  row: TaskRow;
  readonly key: string | null;
  readonly leaseUntil: number;
  closed: 0 | 1;
  rest: number | null;
  /** Its entries so far: one row of the journal. */
  readonly lines: string[];
}

type Value = string | number | null;
interface Insert {
  readonly rows: number;
  readonly tasks: Statement<readonly []>;
  readonly journal: Statement<readonly []>;
}

/**
 * Tasks that the open transaction made. Their rows are written together before its end, so that a task that is made and ended in one
 * transaction is written once. Everything that asks the file about tasks calls `flush` before.
 */
export class NewTasks {
  readonly #last: Statement<readonly [number | null]>;
  readonly #inserts: readonly Insert[];
  /** A new map for each transaction: a cleared one stays linked to its successor, and the collector keeps both. */
  #made = new Map<string, MadeTask>();
  #lastNumber: number | undefined;

  constructor(connection: Connection) {
    this.#last = connection.prepare("SELECT max(n) FROM tasks");
    this.#inserts = ROWS_AT_ONCE.map((rows) => ({
      rows,
      tasks:
        connection.prepare(`INSERT INTO tasks (n, id, owner, agent, context, key, state, status_at, closed, seq, bytes, holder,
        lease_until, pushes, rest) VALUES ${repeated("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)}`),
      journal: connection.prepare(`INSERT INTO journal (at, events) VALUES ${repeated("(?, ?)", rows)}`),
    }));
  }

  /** Called when a transaction begins: what an undone one made is forgotten. */
  forget(): void {
    this.#made = new Map();
    this.#lastNumber = undefined;
  }

  /** The number of the next new task. */
  nextNumber(): number {
    this.#lastNumber = (this.#lastNumber ?? this.#last.get([])?.[0] ?? 0) + 1;
    return this.#lastNumber;
  }

  add(made: MadeTask): void {
    this.#made.set(made.row.taskId, made);
  }

  get(taskId: string): Maybe<MadeTask> {
    return this.#made.get(taskId);
  }

  flush(): void {
    if (this.#made.size === 0) return;
    const made = [...this.#made.values()];
    this.#made = new Map();
    let from = 0;
    for (const { rows, tasks, journal } of this.#inserts) {
      for (; made.length - from >= rows; from += rows) {
        const these = made.slice(from, from + rows);
        const values: Value[] = [];
        for (const each of these) addTaskValues(values, each);
        tasks.run(values);
        const entries: Value[] = [];
        for (const { row, lines } of these) entries.push(entryKey(row.n, 1), lines.join(LINE_BREAK));
        journal.run(entries);
      }
    }
  }
}

/** The key of a row of the journal. */
export function entryKey(task: number, first: number): number {
  return task * ENTRIES_PER_TASK + first;
}

function addTaskValues(values: Value[], { row, key, leaseUntil, closed, rest }: MadeTask): void {
  const { n, taskId, owner, agent, contextId, state, statusAt, seq, bytes, holder, pushes } = row;
  values.push(n, columnText(taskId), columnText(owner), columnText(agent), columnText(contextId), key, state, statusAt);
  values.push(closed, seq, bytes, holder === undefined ? null : columnText(holder), leaseUntil, pushes, rest);
}

function repeated(values: string, times: number): string {
  return Array.from({ length: times }, () => values).join(", ");
}
