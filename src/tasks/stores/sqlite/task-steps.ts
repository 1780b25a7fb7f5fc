import {
  AgentError,
  type Envelope,
  isInterrupted,
  isTerminal,
  type Maybe,
  SEAL_KEY,
  type TaskEvent,
} from "../../../envelope/index.js";
import { eventSize, messageSize } from "../../content-size.js";
import type { TaskLimits } from "../../limits.js";
import type {
  Appended,
  Batch,
  CancelRequested,
  Created,
  EnqueueResult,
  Hold,
  LeaseRequest,
  NewTask,
  Resumed,
  TakenOver,
  TurnState,
} from "../../store.js";
import { answerFor } from "../key-index.js";
import type { StoredContent } from "../stored-content.js";
import { isDamage } from "./failures.js";
import type { JournalTable } from "./journal-table.js";
import type { KeyTable } from "./key-table.js";
import type { PushTable } from "./push-table.js";
import type { Room } from "./room.js";
import type { Snapshots } from "./snapshots.js";
import type { TaskRow } from "./task-row.js";
import { eventsSize, type TaskTable } from "./task-table.js";

/** The tables used by a step. */
export interface Tables {
  readonly tasks: TaskTable;
  readonly journal: JournalTable;
  readonly snapshots: Snapshots;
  readonly keys: KeyTable;
  readonly pushes: PushTable;
  readonly room: Room;
}

/** Dependencies of a step besides the tables. */
export interface StepRules {
  readonly limits: TaskLimits;
  readonly content: StoredContent;
  now(): number;
  /** Listeners of the task are notified after the commit. */
  changed(taskId: string): void;
}

/** The steps that change a task. Each reads first and then writes, inside a transaction. */
export class TaskSteps {
  readonly #in: Tables;
  readonly #limits: TaskLimits;
  readonly #content: StoredContent;
  readonly #now: () => number;
  readonly #changed: (taskId: string) => void;

  constructor(tables: Tables, { limits, content, now, changed }: StepRules) {
    this.#in = tables;
    this.#limits = limits;
    this.#content = content;
    this.#now = now;
    this.#changed = changed;
  }

  create(start: NewTask): Created {
    const { tasks, journal, keys, pushes, room } = this.#in;
    const { owner, task } = start;
    const key = start.key && { ...start.key, digest: this.#content.digest(start.key.digest) };
    const nowMs = this.#now();
    if (key !== undefined) {
      const known = keys.check(start, key, nowMs);
      if (known !== undefined) return answerFor(known, tasks.find(known.taskId, owner) !== undefined);
      if (keys.isFull(owner, nowMs)) return { made: false, because: "full" };
    }
    const first: TaskEvent = { kind: "task", task };
    const bytes = eventSize(first);
    if (!room.hasRoomForTask(owner, bytes)) return { made: false, because: "full" };
    const n = tasks.add(start, bytes);
    journal.write({ n, owner }, { taskId: task.id, first: 1, events: [first], bytes });
    if (key !== undefined) keys.keep(start, key, nowMs);
    pushes.begin(n, start);
    return { made: true, epoch: 1 };
  }

  append(taskId: string, batch: Batch): Appended {
    const { tasks, journal, pushes, snapshots } = this.#in;
    const row = tasks.get(taskId);
    if (row === undefined || isTerminal(row.state)) return { ok: false, because: "closed" };
    if (row.holder === undefined || row.epoch !== batch.epoch) return { ok: false, because: "fenced" };
    if (row.seq !== batch.after) return { ok: false, because: "sequence" };
    if (batch.unlessQueued && row.waiting > 0) return { ok: false, because: "queued" };
    const { events } = batch;
    const bytes = eventsSize(events);
    if (!this.#fits(row, events, bytes)) return { ok: false, because: "full" };
    const then = this.#write(row, events, bytes);
    if (batch.state !== undefined) journal.save(row, batch.state);
    snapshots.keepUp(then);
    this.#changed(taskId);
    return { ok: true, cancelRequested: row.cancelRequested, pushDue: pushes.note(then) };
  }

  enqueue(taskId: string, owner: string, message: Envelope): EnqueueResult {
    const row = this.#in.tasks.find(taskId, owner);
    if (row === undefined) return "missing";
    if (this.#in.journal.hasMessage(row, message)) return "repeated";
    if (isTerminal(row.state)) return "closed";
    if (isInterrupted(row.state)) return "interrupted";
    if (row.waiting >= this.#limits.inputsPerTask) return "busy";
    if (!this.#fitsMessage(row, message)) return "full";
    this.#addMessage(row, message, 1);
    return "queued";
  }

  resume(taskId: string, owner: string, message: Envelope, lease: LeaseRequest): Resumed {
    const { tasks, journal, pushes } = this.#in;
    const row = tasks.find(taskId, owner);
    if (row === undefined) return { ok: false, because: "missing" };
    if (journal.hasMessage(row, message)) return { ok: false, because: "repeated" };
    if (isTerminal(row.state)) return { ok: false, because: "closed" };
    if (!isInterrupted(row.state)) return { ok: false, because: "running" };
    const events = [this.#statusEvent(row, "working")];
    const bytes = eventsSize(events);
    if (!this.#fitsMessage(row, message) || !this.#fits(row, events, bytes)) return { ok: false, because: "full" };
    const held = tasks.hold(this.#write(row, events, bytes), lease, 1);
    const then = this.#addMessage(held, message, 0);
    pushes.note(then);
    this.#changed(taskId);
    return { ok: true, ...this.#turned(then) };
  }

  nextTurn(taskId: string, epoch: number, turn: number): Maybe<{ readonly message: Envelope; readonly turnState: TurnState }> {
    const { tasks, journal } = this.#in;
    const row = tasks.get(taskId);
    if (row === undefined || row.holder === undefined || row.epoch !== epoch) return undefined;
    if (row.turn !== turn) return { message: journal.message(row), turnState: this.#turned(row) };
    if (!journal.takeWaiting(row)) return undefined;
    const then = tasks.beginTurn(row);
    return { message: journal.message(then), turnState: this.#turned(then) };
  }

  requestCancel(taskId: string, owner: string): Maybe<CancelRequested> {
    const { tasks, pushes } = this.#in;
    const row = tasks.find(taskId, owner);
    if (row === undefined) return undefined;
    if (isTerminal(row.state)) return { outcome: "closed", state: row.state };
    tasks.requestCancel(row);
    if (row.holder !== undefined) return { outcome: "notified", holder: row.holder };
    const events = [this.#statusEvent(row, "canceled")];
    const then = this.#write(row, events, eventsSize(events));
    pushes.note(then);
    this.#changed(taskId);
    return { outcome: "canceled", state: then.state };
  }

  renew({ taskId, epoch }: Hold, leaseMs: number): Appended {
    const { tasks, pushes } = this.#in;
    const row = tasks.get(taskId);
    if (row === undefined || isTerminal(row.state)) return { ok: false, because: "closed" };
    if (row.holder === undefined || row.epoch !== epoch) return { ok: false, because: "fenced" };
    tasks.renew(row, leaseMs);
    return { ok: true, cancelRequested: row.cancelRequested, pushDue: pushes.isPending(row) };
  }

  takeOver(lease: LeaseRequest, limit: number): readonly TakenOver[] {
    const { tasks } = this.#in;
    return tasks.lost(limit).flatMap((lost) => {
      const work = this.#workOf(lost);
      if (work === undefined) return [];
      const row = tasks.hold(lost, lease, 0);
      const { taskId, epoch, owner, agent, contextId, seq, turn, cancelRequested } = row;
      return [{ taskId, epoch, owner, agent, contextId, seq, turn, cancelRequested, ...work }];
    });
  }

  /** A task whose work cannot be read fails, so that it is not tried for ever, and others are taken over. */
  #workOf(row: TaskRow): Maybe<Pick<TakenOver, "message" | "state">> {
    const { journal } = this.#in;
    try {
      return { message: journal.message(row), state: journal.saved(row) };
    } catch (thrown) {
      // Its key is not here: another process may have it.
      if (thrown instanceof AgentError && thrown.facts.field === SEAL_KEY) return undefined;
      if (!isDamage(thrown) && !(thrown instanceof AgentError)) throw thrown;
      const error = { code: "internal", message: "the record of this task is damaged in the task store" } as const;
      const status = { state: "failed", at: this.#now(), error } as const;
      const events: readonly TaskEvent[] = [{ kind: "status", taskId: row.taskId, contextId: row.contextId, status }];
      this.#in.pushes.note(this.#write(row, events, eventsSize(events)));
      this.#changed(row.taskId);
      return undefined;
    }
  }

  /** A single closing status is always accepted: a task must be able to end. */
  #fits(row: TaskRow, events: readonly TaskEvent[], bytes: number): boolean {
    const [only] = events;
    if (events.length === 1 && only?.kind === "status" && isTerminal(only.status.state)) return true;
    const { journalEntries, journalBytes } = this.#limits;
    return (
      row.seq + row.messages + events.length <= journalEntries &&
      row.bytes + bytes <= journalBytes &&
      this.#in.room.hasRoom(row.owner, bytes, row.n)
    );
  }

  /** Entries and columns change together. */
  #write(row: TaskRow, events: readonly TaskEvent[], bytes: number): TaskRow {
    const then = this.#in.tasks.apply(row, events, bytes);
    this.#in.journal.write(row, { taskId: row.taskId, first: row.seq + 1, events, bytes: then.bytes });
    return then;
  }

  #fitsMessage(row: TaskRow, message: Envelope): boolean {
    return this.#fits(row, [], messageSize(message)) && row.seq + row.messages < this.#limits.journalEntries;
  }

  #addMessage(row: TaskRow, message: Envelope, waits: 0 | 1): TaskRow {
    this.#in.journal.addMessage(row, message, waits);
    return this.#in.tasks.addMessage(row, waits, messageSize(message));
  }

  #turned(row: TaskRow): TurnState {
    const task = this.#in.snapshots.at(row, row.seq)?.task;
    if (task === undefined) throw new Error("a task that is there has a snapshot");
    return { epoch: row.epoch, seq: row.seq, turn: row.turn, task, state: this.#in.journal.saved(row) };
  }

  #statusEvent({ taskId, contextId }: TaskRow, state: "working" | "canceled"): TaskEvent {
    return { kind: "status", taskId, contextId, status: { state, at: this.#now() } };
  }
}
