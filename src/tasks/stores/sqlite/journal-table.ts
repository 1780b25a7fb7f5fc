import type { Envelope, Json, Maybe, TaskEvent } from "../../../envelope/index.js";
import type { Entry } from "../../store.js";
import { eventFrom, messageFrom, storedText } from "../stored-form.js";
import { columnText } from "./column-text.js";
import type { Connection, Statement } from "./library.js";
import type { RecentEntries, WrittenEntries } from "./recent-entries.js";
import type { TaskRow } from "./task-table.js";

/** JSON writes a line break inside a text with other signs, so it may stand between two entries. */
const LINE_BREAK = "\n";

/** A message of the caller and the entry after which it was said. */
export interface HeardMessage {
  readonly after: number;
  readonly message: Envelope;
}

/** What can be long: entries, those written together in one row; messages of the caller; what an agent saved. */
export class JournalTable {
  readonly #recent: RecentEntries;
  readonly #write: Statement<readonly []>;
  readonly #read: Statement<readonly [number, string]>;
  readonly #hear: Statement<readonly []>;
  readonly #heard: Statement<readonly [number, string]>;
  readonly #hasHeard: Statement<readonly [number]>;
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
    this.#hear = connection.prepare("INSERT INTO heard (task, n, after, key, waits, message) VALUES (?, ?, ?, ?, ?, ?)");
    this.#heard = connection.prepare("SELECT after, message FROM heard WHERE task = ? AND n > ? AND after <= ? ORDER BY n");
    this.#hasHeard = connection.prepare("SELECT 1 FROM heard WHERE task = ? AND key = ?");
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
  hear(row: TaskRow, message: Envelope, waits: 0 | 1): void {
    const key = message.context.idempotencyKey;
    const named = key === undefined ? null : columnText(key);
    this.#hear.run([row.n, row.heard + 1, row.seq, named, waits, storedText(message)]);
  }

  /** Messages behind the first `known`, said no later than after entry `seq`. */
  heard(row: TaskRow, known: number, seq: number): readonly HeardMessage[] {
    if (row.heard <= known) return [];
    return this.#heard.all([row.n, known, seq]).map(([after, text]) => ({ after, message: messageFrom(text) }));
  }

  hasHeard(row: TaskRow, message: Envelope): boolean {
    const key = message.context.idempotencyKey;
    return key !== undefined && row.heard > 0 && this.#hasHeard.get([row.n, columnText(key)]) !== undefined;
  }

  /** The message that waits longest does not wait from now on. False when none does. */
  takeWaiting(row: TaskRow): boolean {
    return row.waiting > 0 && this.#unwait.run([row.n, row.heard - row.waiting + 1]).changes > 0;
  }

  /** What the turn at hand hears: the last message that does not wait. */
  message(row: TaskRow): Envelope {
    const [text] = this.#message.get([row.n, row.heard - row.waiting]) ?? [];
    if (text !== undefined) return messageFrom(text);
    const [first] = this.read(row, 1, 1);
    const said = first?.event.kind === "task" ? first.event.task.history.at(-1) : undefined;
    if (said === undefined) throw new Error("a task begins with a message");
    return said;
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
