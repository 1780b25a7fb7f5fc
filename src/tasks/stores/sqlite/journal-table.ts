import type { Envelope, Json, Maybe, TaskEvent } from "../../../envelope/index.js";
import type { Entry } from "../../store.js";
import { eventFrom, messageFrom, storedText } from "../stored-form.js";
import { columnText } from "./column-text.js";
import type { Connection, Statement } from "./library.js";
import type { RecentEntries, WrittenEntries } from "./recent-entries.js";
import type { TaskRow } from "./task-table.js";

/** JSON escapes line breaks in strings, so a raw one can separate entries. */
const LINE_BREAK = "\n";

/** A caller's message and the entry it came after. */
export interface CallerMessage {
  readonly after: number;
  readonly message: Envelope;
}

/** Large values: entries (one row per batch), callers' messages, and saved state. */
export class JournalTable {
  readonly #recent: RecentEntries;
  readonly #write: Statement<readonly []>;
  readonly #read: Statement<readonly [number, string]>;
  readonly #addMessage: Statement<readonly []>;
  readonly #messages: Statement<readonly [number, string]>;
  readonly #hasMessage: Statement<readonly [number]>;
  readonly #message: Statement<readonly [string]>;
  readonly #unwait: Statement<readonly []>;
  readonly #save: Statement<readonly []>;
  readonly #saved: Statement<readonly [string]>;

  constructor(connection: Connection, recent: RecentEntries) {
    this.#recent = recent;
    this.#write = connection.prepare("INSERT INTO journal (task, first, events) VALUES (?, ?, ?)");
    this.#read = connection.prepare(
      `SELECT first, events FROM journal WHERE task = ?1 AND first <= ?3
       AND first >= (SELECT max(first) FROM journal WHERE task = ?1 AND first <= ?2) ORDER BY first`,
    );
    this.#addMessage = connection.prepare("INSERT INTO heard (task, n, after, key, waits, message) VALUES (?, ?, ?, ?, ?, ?)");
    this.#messages = connection.prepare("SELECT after, message FROM heard WHERE task = ? AND n > ? AND after <= ? ORDER BY n");
    this.#hasMessage = connection.prepare("SELECT 1 FROM heard WHERE task = ? AND key = ?");
    this.#message = connection.prepare("SELECT message FROM heard WHERE task = ? AND n = ?");
    this.#unwait = connection.prepare("UPDATE heard SET waits = 0 WHERE task = ? AND n = ?");
    this.#save = connection.prepare("INSERT OR REPLACE INTO saved (task, value) VALUES (?, ?)");
    this.#saved = connection.prepare("SELECT value FROM saved WHERE task = ?");
  }

  write(n: number, written: WrittenEntries): void {
    const { first, events } = written;
    if (events.length === 0) return;
    this.#write.run([n, first, events.map(storedText).join(LINE_BREAK)]);
    this.#recent.note(written);
  }

  /** Entries `from` to `to`, as far as they exist. */
  read({ n, taskId }: TaskRow, from: number, to: number): readonly Entry[] {
    const events = this.#recent.upTo(taskId, to)?.slice(from - 1, to) ?? this.#readFile(n, from, to);
    return events.map((event, index) => ({ seq: from + index, event }));
  }

  /** `row` is the task before the message. */
  addMessage(row: TaskRow, message: Envelope, waits: 0 | 1): void {
    const key = message.context.idempotencyKey;
    const named = key === undefined ? null : columnText(key);
    this.#addMessage.run([row.n, row.messages + 1, row.seq, named, waits, storedText(message)]);
  }

  /** Messages after the first `known`, up to entry `seq`. */
  messages(row: TaskRow, known: number, seq: number): readonly CallerMessage[] {
    if (row.messages <= known) return [];
    return this.#messages.all([row.n, known, seq]).map(([after, text]) => ({ after, message: messageFrom(text) }));
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
    const [text] = this.#message.get([row.n, row.messages - row.waiting]) ?? [];
    if (text !== undefined) return messageFrom(text);
    const [first] = this.read(row, 1, 1);
    const found = first?.event.kind === "task" ? first.event.task.history.at(-1) : undefined;
    if (found === undefined) throw new Error("a task begins with a message");
    return found;
  }

  save(n: number, value: Json): void {
    this.#save.run([n, JSON.stringify(value)]);
  }

  saved(n: number): Maybe<Json> {
    const row = this.#saved.get([n]);
    return row === undefined ? undefined : JSON.parse(row[0]);
  }

  #readFile(n: number, from: number, to: number): readonly TaskEvent[] {
    const rows = this.#read.all([n, from, to]);
    const first = rows[0]?.[0] ?? 1;
    const lines = rows.flatMap(([, events]) => events.split(LINE_BREAK));
    return lines.slice(from - first, to - first + 1).map(eventFrom);
  }
}
