import { isInterrupted, isTerminal, type Maybe, type State, type TaskEvent } from "../../../envelope/index.js";
import { eventSize } from "../../content-size.js";
import type { LeaseRequest, NewTask } from "../../store.js";
import { columnText, nameFrom } from "./column-text.js";
import type { Holdings } from "./holdings.js";
import type { Connection, Statement } from "./library.js";
import type { NewTasks } from "./new-tasks.js";
import type { TaskRow } from "./task-row.js";
import type { Totals } from "./totals.js";

const COLUMNS = `n, id, owner, agent, context, state, status_at, seq, bytes, turn, epoch, holder, cancel, heard, waiting,
  pushes, snapshot_seq, snapshot_next`;
type Columns = readonly [
  n: number,
  taskId: string,
  owner: string,
  agent: string,
  contextId: string,
  state: State,
  statusAt: number,
  seq: number,
  bytes: number,
  turn: number,
  epoch: number,
  holder: string | null,
  cancel: number,
  messages: number,
  waiting: number,
  pushes: number,
  snapshotSeq: number,
  snapshotNext: number,
];

/** The small columns of all tasks. */
export class TaskTable {
  readonly #totals: Totals;
  readonly #holdings: Holdings;
  readonly #made: NewTasks;
  readonly #keptMs: number;
  readonly #now: () => number;
  readonly #select: Statement<Columns>;
  readonly #any: Statement<readonly [number]>;
  readonly #selectLost: Statement<Columns>;
  readonly #grow: Statement<readonly []>;
  readonly #status: Statement<readonly []>;
  readonly #rest: Statement<readonly []>;
  readonly #hold: Statement<readonly []>;
  readonly #renew: Statement<readonly []>;
  readonly #cancel: Statement<readonly []>;
  readonly #messages: Statement<readonly []>;
  readonly #turn: Statement<readonly []>;
  readonly #pushes: Statement<readonly []>;
  readonly #snapshot: Statement<readonly []>;

  constructor(
    connection: Connection,
    { totals, holdings, made }: { readonly totals: Totals; readonly holdings: Holdings; readonly made: NewTasks },
    keep: { readonly keptMs: number; now(): number },
  ) {
    this.#totals = totals;
    this.#holdings = holdings;
    this.#made = made;
    this.#keptMs = keep.keptMs;
    this.#now = keep.now;
    const prepare = <Row extends readonly (string | number | null)[]>(sql: string) => connection.prepare<Row>(sql);
    this.#select = prepare(`SELECT ${COLUMNS} FROM tasks WHERE id = ?`);
    this.#any = prepare("SELECT n FROM tasks LIMIT 1");
    this.#selectLost = prepare(
      `SELECT ${COLUMNS} FROM tasks WHERE holder IS NOT NULL AND lease_until <= ? ORDER BY lease_until LIMIT ?`,
    );
    // An index is rewritten if one of its columns is named, changed or not: so each kind of change has its own statement.
    this.#grow = prepare("UPDATE tasks SET seq = ?, bytes = ? WHERE n = ?");
    this.#status = prepare("UPDATE tasks SET seq = ?, bytes = ?, state = ?, status_at = ? WHERE n = ?");
    this.#rest = prepare(
      "UPDATE tasks SET seq = ?, bytes = ?, state = ?, status_at = ?, closed = ?, rest = ?, holder = NULL WHERE n = ?",
    );
    this.#hold = prepare(
      "UPDATE tasks SET epoch = epoch + 1, holder = ?, lease_until = ?, turn = turn + ?, rest = NULL WHERE n = ?",
    );
    this.#renew = prepare("UPDATE tasks SET lease_until = ? WHERE n = ?");
    this.#cancel = prepare("UPDATE tasks SET cancel = 1 WHERE n = ?");
    this.#messages = prepare("UPDATE tasks SET heard = heard + 1, waiting = waiting + ?, bytes = bytes + ? WHERE n = ?");
    this.#turn = prepare("UPDATE tasks SET turn = turn + 1, waiting = waiting - 1 WHERE n = ?");
    this.#pushes = prepare("UPDATE tasks SET pushes = pushes + ? WHERE n = ?");
    this.#snapshot = prepare("UPDATE tasks SET snapshot_seq = ?, snapshot_next = ? WHERE n = ?");
  }

  /** A task that ended this long ago counts as deleted, whether its rows were removed yet or not. */
  get overBefore(): number {
    return this.#now() - this.#keptMs;
  }

  get(taskId: string): Maybe<TaskRow> {
    const row = this.#made.get(taskId)?.row ?? this.#stored(taskId);
    if (row === undefined) return undefined;
    return isTerminal(row.state) && row.statusAt <= this.overBefore ? undefined : row;
  }

  hasAny(): boolean {
    return this.#any.get([]) !== undefined;
  }

  /** Another owner's task is treated as missing. */
  find(taskId: string, owner: string): Maybe<TaskRow> {
    const row = this.get(taskId);
    return row?.owner === owner ? row : undefined;
  }

  /** Tasks with an expired lease, longest expired first. */
  lost(limit: number): readonly TaskRow[] {
    return this.#selectLost.intact([this.#now(), limit]).map(rowOf);
  }

  add(start: NewTask, bytes: number): number {
    const { task, owner, agent, key, lease, push } = start;
    const n = this.#made.nextNumber();
    // Member by member: spreads cost several times as much, and this runs for every task.
    const row = {
      n,
      taskId: task.id,
      owner,
      agent,
      contextId: task.contextId,
      state: task.status.state,
      statusAt: task.status.at,
      seq: 1,
      bytes,
      turn: 1,
      epoch: 1,
      holder: lease.holder,
      cancelRequested: false,
      messages: 0,
      waiting: 0,
      pushes: push === undefined ? 0 : 1,
      snapshotSeq: 0,
      snapshotNext: 0,
    };
    const named = key === undefined ? null : columnText(key.key);
    this.#made.add({ row, key: named, leaseUntil: this.#now() + lease.leaseMs, closed: 0, rest: null, lines: [] });
    this.#totals.add({ tasks: 1, bytes });
    this.#holdings.add(owner, 1, bytes, 0);
    return n;
  }

  /** Applies entries to the columns. A state that ends the turn releases the lease. Returns the new row. */
  apply(row: TaskRow, events: readonly TaskEvent[], bytes: number): TaskRow {
    const seq = row.seq + events.length;
    const total = row.bytes + bytes;
    this.#totals.add({ bytes });
    const made = this.#made.get(row.taskId);
    const status = lastStatus(events);
    if (status === undefined) {
      this.#holdings.add(row.owner, 0, bytes, 0);
      const then = { ...row, seq, bytes: total };
      if (made === undefined) this.#grow.run([seq, total, row.n]);
      else made.row = then;
      return then;
    }
    const { state, at } = status;
    const closed = isTerminal(state);
    const rests = closed || (row.holder !== undefined && events.some(endsTurn));
    const then = { ...row, seq, bytes: total, state, statusAt: at, holder: rests ? undefined : row.holder };
    const rest = rests ? this.#totals.nextRest() : null;
    this.#holdings.add(row.owner, 0, bytes, closed ? 1 : 0);
    if (made !== undefined) {
      made.row = then;
      made.closed = closed ? 1 : 0;
      made.rest = rest;
    } else if (rest === null) this.#status.run([seq, total, state, at, row.n]);
    else this.#rest.run([seq, total, state, at, closed ? 1 : 0, rest, row.n]);
    return then;
  }

  /** `turns`: 1 if a new turn starts with it. */
  hold(row: TaskRow, { holder, leaseMs }: LeaseRequest, turns: 0 | 1): TaskRow {
    this.#hold.run([columnText(holder), this.#now() + leaseMs, turns, row.n]);
    return { ...row, epoch: row.epoch + 1, holder, turn: row.turn + turns };
  }

  renew(row: TaskRow, leaseMs: number): void {
    this.#renew.run([this.#now() + leaseMs, row.n]);
  }

  requestCancel(row: TaskRow): void {
    this.#cancel.run([row.n]);
  }

  addMessage(row: TaskRow, waits: 0 | 1, bytes: number): TaskRow {
    this.#messages.run([waits, bytes, row.n]);
    this.#totals.add({ bytes });
    this.#holdings.add(row.owner, 0, bytes, 0);
    return { ...row, messages: row.messages + 1, waiting: row.waiting + waits, bytes: row.bytes + bytes };
  }

  /** The oldest queued message starts its turn. */
  beginTurn(row: TaskRow): TaskRow {
    this.#turn.run([row.n]);
    return { ...row, turn: row.turn + 1, waiting: row.waiting - 1 };
  }

  countPushes(row: TaskRow, more: number): void {
    this.#pushes.run([more, row.n]);
  }

  noteSnapshot(row: TaskRow, snapshotNext: number): void {
    this.#snapshot.run([row.seq, snapshotNext, row.n]);
  }

  #stored(taskId: string): Maybe<TaskRow> {
    const columns = this.#select.get([columnText(taskId)]);
    return columns && rowOf(columns);
  }
}

/** About how long these entries are together. */
export function eventsSize(events: readonly TaskEvent[]): number {
  let bytes = 0;
  for (const event of events) bytes += eventSize(event);
  return bytes;
}

function lastStatus(events: readonly TaskEvent[]) {
  const event = events.findLast(({ kind }) => kind !== "artifact");
  if (event === undefined || event.kind === "artifact") return undefined;
  return event.kind === "status" ? event.status : event.task.status;
}

function endsTurn(event: TaskEvent): boolean {
  if (event.kind === "artifact") return false;
  const { state } = event.kind === "status" ? event.status : event.task.status;
  return isTerminal(state) || isInterrupted(state);
}

function rowOf(columns: Columns): TaskRow {
  const [n, taskId, owner, agent, contextId, state, statusAt, seq, bytes, turn, epoch, holder, cancel, ...rest] = columns;
  const [messages, waiting, pushes, snapshotSeq, snapshotNext] = rest;
  return {
    n,
    taskId: nameFrom(taskId),
    owner: nameFrom(owner),
    agent: nameFrom(agent),
    contextId: nameFrom(contextId),
    state,
    statusAt,
    seq,
    bytes,
    turn,
    epoch,
    holder: holder === null ? undefined : nameFrom(holder),
    cancelRequested: cancel === 1,
    messages,
    waiting,
    pushes,
    snapshotSeq,
    snapshotNext,
  };
}
