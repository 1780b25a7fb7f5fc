import { basename } from "node:path";
import { type Envelope, isTerminal, type Maybe, type PushConfig, type Records } from "../../envelope/index.js";
import { type TaskLimits, taskLimits } from "../limits.js";
import type { Batch, Created, DuePush, Hold, LeaseRequest, NewTask, PushProgress, Store } from "../store.js";
import { type SealOptions, sealOf } from "./seal-marker.js";
import { contentRecords } from "./sealed-records.js";
import { CommitQueue } from "./sqlite/commit-queue.js";
import { storeFailure } from "./sqlite/failures.js";
import { Holdings } from "./sqlite/holdings.js";
import { JournalTable } from "./sqlite/journal-table.js";
import { KeyTable } from "./sqlite/key-table.js";
import { type Connection, loadLibrary } from "./sqlite/library.js";
import { Listeners } from "./sqlite/listeners.js";
import { LONGEST_JOURNAL, NewTasks } from "./sqlite/new-tasks.js";
import { openFile, type Synchronous } from "./sqlite/open-file.js";
import { PushTable } from "./sqlite/push-table.js";
import { RecentEntries } from "./sqlite/recent-entries.js";
import { SqliteRecords } from "./sqlite/record-table.js";
import { SqliteReplayGuard } from "./sqlite/replay-table.js";
import { Room } from "./sqlite/room.js";
import { SealTable } from "./sqlite/seal-table.js";
import { Snapshots } from "./sqlite/snapshots.js";
import { TaskList } from "./sqlite/task-list.js";
import { type StepRules, type Tables, TaskSteps } from "./sqlite/task-steps.js";
import { TaskTable } from "./sqlite/task-table.js";
import { Totals } from "./sqlite/totals.js";
import { StoredContent } from "./stored-content.js";

/** Options of `openSqliteStore`. */
export interface SqliteStoreOptions extends SealOptions {
  /** Created if missing, with its folder, readable by this user only. */
  readonly file: string;
  /** Overrides of the default limits (`DEFAULT_TASK_LIMITS`). */
  readonly limits?: Maybe<Partial<TaskLimits>>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Default `normal`: a power cut may lose the last moments. `full` waits for the disk at every step. */
  readonly synchronous?: Maybe<Synchronous>;
}

interface Shared {
  readonly totals: Totals;
  readonly holdings: Holdings;
  readonly recent: RecentEntries;
  readonly made: NewTasks;
}

const FIRST_KEPT = 1;

/**
 * Opens a store in a local file, for one or several processes. Needs the package `libsql`. Freed space
 * is reused; the file shrinks gradually when more than half of it is unused.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const connect = await loadLibrary();
  const { file, synchronous = "normal" } = options;
  let connection: Connection | undefined;
  try {
    connection = openFile(connect, file, synchronous);
    const store = new SqliteStore(connection, options);
    await store.sealWith(options);
    return store;
  } catch (thrown) {
    connection?.close();
    throw storeFailure(thrown, file);
  }
}

/** Every method is a step in the queue: one transaction, shared with the calls of about the same time. */
class SqliteStore implements Store {
  readonly durability: string;
  readonly records: SqliteRecords;
  readonly contentRecords: Records;
  readonly replayGuard: NonNullable<Store["replayGuard"]>;
  readonly #connection: Connection;
  readonly #limits: TaskLimits;
  readonly #queue: CommitQueue;
  readonly #listeners: Listeners;
  readonly #content = new StoredContent();
  readonly #made: NewTasks;
  readonly #tables: Tables;
  readonly #steps: TaskSteps;
  readonly #list: TaskList;
  #changed = new Set<string>();
  #closed: Promise<void> | undefined;

  constructor(connection: Connection, { file, limits, now, synchronous = "normal" }: SqliteStoreOptions) {
    this.durability = durabilityOf(file, synchronous);
    this.#connection = connection;
    const wanted = taskLimits(limits);
    this.#limits = { ...wanted, journalEntries: Math.min(wanted.journalEntries, LONGEST_JOURNAL) };
    this.#listeners = new Listeners(connection);
    const totals = new Totals(connection);
    const holdings = new Holdings(connection);
    const recent = new RecentEntries((taskId) => this.#listeners.has(taskId));
    const made = new NewTasks(connection);
    this.#made = made;
    const changed = (taskId: string) => void this.#changed.add(taskId);
    const rules = { limits: this.#limits, content: this.#content, now, changed };
    this.#tables = tablesOf(connection, { totals, holdings, recent, made }, rules);
    this.#steps = new TaskSteps(this.#tables, rules);
    this.#list = new TaskList(connection, this.#tables, this.#limits.defaultPageSize);
    const begin = () => {
      totals.forget();
      holdings.begin();
      recent.forget();
      made.forget();
      this.#changed = new Set();
    };
    const committed = () => {
      holdings.committed();
      recent.keep();
      for (const taskId of this.#changed) this.#listeners.notify(taskId);
    };
    const end = () => {
      made.flush();
      totals.write();
    };
    const around = { begin, end, committed };
    this.#queue = new CommitQueue(connection, around, basename(file));
    this.records = new SqliteRecords(connection, { totals, queue: this.#queue }, { limits: this.#limits, now });
    this.contentRecords = contentRecords(this.records, this.#content);
    this.replayGuard = (replays, clock) =>
      new SqliteReplayGuard(connection, { totals, queue: this.#queue, limits: replays, now: clock });
  }

  get sealed(): boolean {
    return this.#content.isSealed;
  }

  get refusedContent(): number {
    return this.#content.refused;
  }

  async sealWith(options: SealOptions): Promise<void> {
    const mark = new SealTable(this.#connection, { queue: this.#queue, tasks: this.#tables.tasks });
    this.#content.sealWith(await sealOf(mark, options));
  }

  async ping(): Promise<void> {
    await this.#queue.do("read", () => this.#connection.prepare("SELECT count(*) FROM sqlite_schema").get([]));
  }

  create(start: NewTask): Promise<Created> {
    const storing = this.#queue.do("write", () => this.#steps.create(start));
    if (start.early !== true || start.key !== undefined || start.push !== undefined) return storing;
    // The entries that follow in this turn of the event loop are written in the same transaction.
    const stored = storing.then(({ made }) => (made ? undefined : ("full" as const)));
    stored.catch(() => undefined);
    return Promise.resolve({ made: true, epoch: 1, stored });
  }

  append(taskId: string, batch: Batch) {
    return this.#queue.do("write", () => this.#steps.append(taskId, batch));
  }

  facts(taskId: string, owner: string) {
    return this.#step("read", () => {
      const row = this.#tables.tasks.find(taskId, owner);
      if (row === undefined) return undefined;
      const { agent, contextId, state, seq } = row;
      return { agent, contextId, state, seq, saved: this.#tables.journal.saved(row) };
    });
  }

  enqueue(taskId: string, owner: string, message: Envelope) {
    return this.#step("write", () => this.#steps.enqueue(taskId, owner, message));
  }

  resume(taskId: string, owner: string, message: Envelope, lease: LeaseRequest) {
    return this.#step("write", () => this.#steps.resume(taskId, owner, message, lease));
  }

  nextTurn(taskId: string, epoch: number, turn: number) {
    return this.#step("write", () => this.#steps.nextTurn(taskId, epoch, turn));
  }

  read(taskId: string, owner: string, after: number, limit: number) {
    return this.#step("read", () => {
      const { tasks, journal } = this.#tables;
      const row = tasks.find(taskId, owner);
      if (row === undefined) return undefined;
      const to = Math.min(row.seq, after + limit);
      const entries = after < to ? journal.read(row, after + 1, to) : [];
      return { firstKept: FIRST_KEPT, entries, closed: isTerminal(row.state) };
    });
  }

  snapshot(taskId: string, owner: string, at?: number) {
    return this.#step("read", () => {
      const row = this.#tables.tasks.find(taskId, owner);
      return row && this.#tables.snapshots.at(row, at ?? row.seq);
    });
  }

  list(owner: string, query: Parameters<Store["list"]>[1]) {
    return this.#step("read", () => this.#list.page(owner, query));
  }

  requestCancel(taskId: string, owner: string) {
    return this.#step("write", () => this.#steps.requestCancel(taskId, owner));
  }

  renew(holds: readonly Hold[], leaseMs: number) {
    return this.#step("write", () => holds.map((hold) => this.#steps.renew(hold, leaseMs)));
  }

  takeOver(lease: LeaseRequest, limit: number) {
    return this.#step("write", () => this.#steps.takeOver(lease, limit));
  }

  setPush(owner: string, config: PushConfig) {
    return this.#step("write", () => {
      const row = this.#tables.tasks.find(config.taskId, owner);
      return row === undefined ? "missing" : this.#tables.pushes.set(row, config);
    });
  }

  pushes(taskId: string, owner: string) {
    return this.#step("read", () => {
      const row = this.#tables.tasks.find(taskId, owner);
      return row && this.#tables.pushes.of(row);
    });
  }

  deletePush(taskId: string, owner: string, id: string) {
    return this.#step("write", () => {
      const row = this.#tables.tasks.find(taskId, owner);
      if (row !== undefined) this.#tables.pushes.delete(row, id);
      return row !== undefined;
    });
  }

  duePushes(lease: LeaseRequest, limit: number) {
    return this.#step("write", () => this.#tables.pushes.due(lease, limit));
  }

  recordPush(due: DuePush, progress: PushProgress) {
    return this.#step("write", () => {
      const row = this.#tables.tasks.find(due.config.taskId, due.owner);
      return row !== undefined && this.#tables.pushes.recordPush(row, due, progress);
    });
  }

  wake(taskId: string, run: () => void): () => void {
    return this.#listeners.wake(taskId, run);
  }

  listen(holder: string, onCancel: (taskId: string) => void): () => void {
    return this.#listeners.listen(holder, onCancel);
  }

  /** Finishes pending calls and checkpoints the log. Every later call is rejected. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** A step that asks the file: what the steps before it made is written first. */
  #step<T>(mode: "read" | "write", step: () => T): Promise<T> {
    return this.#queue.do(mode, () => {
      this.#made.flush();
      return step();
    });
  }

  async #close(): Promise<void> {
    await this.#queue.close();
    this.#listeners.close();
    this.#content.close();
    try {
      this.#connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process reads, or the disk is full: the next process that opens the file applies the log.
    }
    this.#connection.close();
  }
}

function tablesOf(connection: Connection, shared: Shared, rules: StepRules): Tables {
  const { totals, holdings, recent, made } = shared;
  const { limits, content, now, changed } = rules;
  const tasks = new TaskTable(connection, shared, { keptMs: limits.keptTasksMs, now });
  const journal = new JournalTable(connection, content, { recent, made });
  return {
    tasks,
    journal,
    snapshots: new Snapshots(connection, content, { made, tasks, journal }, limits.entriesPerSnapshot),
    keys: new KeyTable(connection, totals, limits),
    pushes: new PushTable(connection, { content, tasks }, { perTask: limits.pushConfigsPerTask, now }),
    room: new Room(connection, { totals, holdings, made, tasks }, limits, changed),
  };
}

function durabilityOf(file: string, synchronous: Synchronous): string {
  const survives = `in ${file}: survives the end of this process`;
  if (synchronous === "full") return `${survives}, and with synchronous=full a power cut`;
  return `${survives}; with synchronous=normal a power cut may lose the last moments`;
}
