import type { Envelope, Json, Maybe, TaskEvent } from "../../../envelope/index.js";
import type { Entry } from "../../store.js";
import type { StoredContent } from "../stored-content.js";
import { columnText } from "./column-text.js";
import type { Connection, Statement } from "./library.js";
import { entryKey, LINE_BREAK, type NewTasks } from "./new-tasks.js";
import type { RecentEntries, WrittenEntries } from "./recent-entries.js";
import type { TaskRow } from "./task-row.js";

/** A caller's message and the entry it came after. */
export interface CallerMessage {
  readonly after: number;
  readonly message: Envelope;
}

/** Large values: entries (one row per batch), callers' messages, and saved state. */
export class JournalTable {
  readonly #content: StoredContent;
  readonly #recent: RecentEntries;
  readonly #made: NewTasks;
  readonly #write: Statement<readonly []>;
  readonly #read: Statement<readonly [number, string]>;
  readonly #addMessage: Statement<readonly []>;
  readonly #messages: Statement<readonly [number, number, string]>;
  readonly #hasMessage: Statement<readonly [number]>;
  readonly #message: Statement<readonly [number, string]>;
  readonly #unwait: Statement<readonly []>;
  readonly #save: Statement<readonly []>;
  readonly #saved: Statement<readonly [string]>;

  constructor(
    connection: Connection,
    content: StoredContent,
    { recent, made }: { readonly recent: RecentEntries; readonly made: NewTasks },
  ) {
    this.#content = content;
    this.#recent = recent;
    this.#made = made;
    this.#write = connection.prepare("INSERT INTO journal (at, events) VALUES (?, ?)");
    this.#read = connection.prepare(
      `SELECT at, events FROM journal
       WHERE at BETWEEN max(?1, (SELECT max(at) FROM journal WHERE at <= ?2)) AND ?3 ORDER BY at`,
    );
    this.#addMessage = connection.prepare("INSERT INTO heard (task, n, after, key, waits, message) VALUES (?, ?, ?, ?, ?, ?)");
    this.#messages = connection.prepare("SELECT n, after, message FROM heard WHERE task = ? AND n > ? AND after <= ? ORDER BY n");
    this.#hasMessage = connection.prepare("SELECT 1 FROM heard WHERE task = ? AND key = ?");
    this.#message = connection.prepare("SELECT after, message FROM heard WHERE task = ? AND n = ?");
    this.#unwait = connection.prepare("UPDATE heard SET waits = 0 WHERE task = ? AND n = ?");
    this.#save = connection.prepare("INSERT OR REPLACE INTO saved (task, value) VALUES (?, ?)");
    this.#saved = connection.prepare("SELECT value FROM saved WHERE task = ?");
  }

  write({ n, owner }: Pick<TaskRow, "n" | "owner">, written: WrittenEntries): void {
    const { taskId, first, events } = written;
    if (events.length === 0) return;
    const lines = events.map((event, index) => this.#content.entry({ owner, taskId }, first + index, event));
    const made = this.#made.get(taskId);
    if (made === undefined) this.#write.run([entryKey(n, first), lines.join(LINE_BREAK)]);
    else for (const line of lines) made.lines.push(line);
    this.#recent.note(written);
  }

  /** Entries `from` to `to`, as far as they exist. */
  read(row: TaskRow, from: number, to: number): readonly Entry[] {
    const events = this.#recent.upTo(row.taskId, to)?.slice(from - 1, to) ?? this.#readFile(row, from, to);
    return events.map((event, index) => ({ seq: from + index, event }));
  }

  /** `row` is the task before the message. */
  addMessage(row: TaskRow, message: Envelope, waits: 0 | 1): void {
    const key = message.context.idempotencyKey;
    const named = key === undefined ? null : columnText(key);
    const place = { number: row.messages + 1, after: row.seq };
    const text = this.#content.message(row, place, message);
    this.#addMessage.run([row.n, place.number, place.after, named, waits, text]);
  }

  /** Messages after the first `known`, up to entry `seq`. */
  messages(row: TaskRow, known: number, seq: number): readonly CallerMessage[] {
    if (row.messages <= known) return [];
    return this.#messages
      .all([row.n, known, seq])
      .map(([number, after, text]) => ({ after, message: this.#content.messageFrom(row, { number, after }, text) }));
  }

  hasMessage(row: TaskRow, message: Envelope): boolean {
    const key = message.context.idempotencyKey;
    return key !== undefined && row.messages > 0 && this.#hasMessage.get([row.n, columnText(key)]) !== undefined;
  }

  /** Dequeues the oldest message. False if none is queued. */
  takeWaiting(row: TaskRow): boolean {
    return row.waiting > 0 && this.#unwait.run([row.n, row.messages - row.waiting + 1]).changes > 0;
  }

  /** The message of the current turn: the last one that is not queued. */
  message(row: TaskRow): Envelope {
    const number = row.messages - row.waiting;
    const found = this.#message.get([row.n, number]);
    if (found !== undefined) return this.#content.messageFrom(row, { number, after: found[0] }, found[1]);
    const [first] = this.read(row, 1, 1);
    const message = first?.event.kind === "task" ? first.event.task.history.at(-1) : undefined;
    if (message === undefined) throw new Error("a task begins with a message");
    return message;
  }

  save(row: TaskRow, value: Json): void {
    this.#save.run([row.n, this.#content.saved(row, value)]);
  }

  saved(row: TaskRow): Maybe<Json> {
    const found = this.#saved.get([row.n]);
    return found === undefined ? undefined : this.#content.savedFrom(row, found[0]);
  }

  #readFile(row: TaskRow, from: number, to: number): readonly TaskEvent[] {
    const rows = this.#read.all([entryKey(row.n, 1), entryKey(row.n, from), entryKey(row.n, to)]);
    const first = (rows[0]?.[0] ?? entryKey(row.n, 1)) - entryKey(row.n, 0);
    const lines = rows.flatMap(([, events]) => events.split(LINE_BREAK)).slice(from - first, to - first + 1);
    this.#content.requireAll(row, lines.length, to - from + 1);
    return lines.map((line, index) => this.#content.entryFrom(row, from + index, line));
  }
}
