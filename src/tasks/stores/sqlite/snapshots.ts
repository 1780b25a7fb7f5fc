import { isTerminal, type Maybe, type Task, TaskFold } from "../../../envelope/index.js";
import type { Entry, Snapshot } from "../../store.js";
import type { StoredContent } from "../stored-content.js";
import type { JournalTable } from "./journal-table.js";
import type { Connection, Statement } from "./library.js";
import type { NewTasks } from "./new-tasks.js";
import type { TaskRow } from "./task-row.js";
import type { TaskTable } from "./task-table.js";

/** Tasks folded from their journals. A long journal is not folded from the beginning: intermediate snapshots are stored. */
export class Snapshots {
  readonly #content: StoredContent;
  readonly #made: NewTasks;
  readonly #tasks: TaskTable;
  readonly #journal: JournalTable;
  readonly #entriesApart: number;
  readonly #nearest: Statement<readonly [number, number, string]>;
  readonly #write: Statement<readonly []>;

  constructor(
    connection: Connection,
    content: StoredContent,
    tables: { readonly made: NewTasks; readonly tasks: TaskTable; readonly journal: JournalTable },
    entriesApart: number,
  ) {
    this.#content = content;
    this.#made = tables.made;
    this.#tasks = tables.tasks;
    this.#journal = tables.journal;
    this.#entriesApart = entriesApart;
    this.#nearest = connection.prepare(
      "SELECT seq, heard, body FROM snapshots WHERE task = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
    );
    this.#write = connection.prepare("INSERT INTO snapshots (task, seq, heard, body) VALUES (?, ?, ?, ?)");
  }

  /** The task at entry `at`, with the messages before the next entry. */
  at(row: TaskRow, at: number): Maybe<Snapshot> {
    if (at < 1 || at > row.seq) return undefined;
    const kept = row.snapshotSeq === 0 ? undefined : this.#nearest.get([row.n, at]);
    const [seq, messages, body] = kept ?? [0, 0, undefined];
    const [...entries] = seq < at ? this.#journal.read(row, seq + 1, at) : [];
    const begun = body === undefined ? firstTask(entries.shift()) : this.#content.snapshotFrom(row, { seq, messages }, body);
    const fold = new TaskFold(begun);
    const found = this.#journal.messages(row, messages, at);
    let next = 0;
    const applyMessages = (entry: number) => {
      for (let one = found[next]; one !== undefined && one.after <= entry; one = found[next]) {
        fold.addMessage(one.message);
        next += 1;
      }
    };
    applyMessages(Math.max(seq, 1));
    for (const entry of entries) {
      fold.apply(entry.event);
      applyMessages(entry.seq);
    }
    return { task: fold.snapshot(), seq: at };
  }

  /**
   * Writes a snapshot when enough entries, and as many bytes as it holds, were added since the last: all snapshots of a task
   * together are about as long as its journal, however often a long artifact is appended to. The last one, of a closed task,
   * is written for the entries alone: all later reads use it.
   */
  keepUp(row: TaskRow): void {
    if (row.seq - row.snapshotSeq < this.#entriesApart) return;
    if (row.bytes < row.snapshotNext && !isTerminal(row.state)) return;
    this.#made.flush();
    const snapshot = this.at(row, row.seq);
    if (snapshot === undefined) return;
    const body = this.#content.snapshot(row, { seq: row.seq, messages: row.messages }, snapshot.task);
    this.#write.run([row.n, row.seq, row.messages, body]);
    this.#tasks.noteSnapshot(row, row.bytes + body.length);
  }
}

function firstTask(first: Maybe<Entry>): Task {
  if (first?.event.kind !== "task") throw new Error("a journal begins with its task");
  return first.event.task;
}
