import {
  type Envelope,
  isInterrupted,
  isTerminal,
  type Json,
  type Maybe,
  type State,
  type Task,
  type TaskEvent,
  TaskFold,
} from "../../envelope/index.js";
import { eventSize } from "../content-size.js";
import type { NewTask, Snapshot, Turned } from "../store.js";
import { KeptPush } from "./kept-push.js";

interface HeardMessage {
  /** The entry after which it was said. */
  readonly after: number;
  readonly message: Envelope;
}

/** Everything the memory store knows of one task. Entry `n` of the journal is `events[n - 1]`. */
export class TaskRecord {
  readonly taskId: string;
  readonly contextId: string;
  readonly owner: string;
  readonly agent: string;
  readonly key: Maybe<string>;
  readonly events: TaskEvent[];
  /** Messages that wait for their turn. Made on first use, like all that most tasks never have. */
  inputs: Envelope[] | undefined;
  pushes: KeptPush[] | undefined;
  status: State;
  statusAt: number;
  bytes: number;
  turn = 1;
  epoch = 1;
  holder: Maybe<string>;
  leaseUntilMs: number;
  cancelRequested = false;
  saved: Maybe<Json>;
  listeners: Set<() => void> | undefined;
  /** Neighbours in the list of tasks nobody runs. */
  older: TaskRecord | undefined;
  newer: TaskRecord | undefined;
  #heard: HeardMessage[] | undefined;
  #heardKeys: Set<string> | undefined;
  #fold: TaskFold | undefined;
  #folded = 0;
  #foldedHeard = 0;
  #snapshot: Snapshot | undefined;
  #readClosed = false;

  constructor(start: NewTask, nowMs: number) {
    const { task, owner, agent, key, lease } = start;
    const first: TaskEvent = { kind: "task", task };
    this.taskId = task.id;
    this.contextId = task.contextId;
    this.owner = owner;
    this.agent = agent;
    this.key = key?.key;
    this.events = [first];
    this.status = task.status.state;
    this.statusAt = task.status.at;
    this.bytes = eventSize(first);
    this.holder = lease.holder;
    this.leaseUntilMs = nowMs + lease.leaseMs;
    if (start.push !== undefined) this.pushes = [new KeptPush(start.push, 0)];
  }

  get seq(): number {
    return this.events.length;
  }

  get closed(): boolean {
    return isTerminal(this.status);
  }

  get interrupted(): boolean {
    return isInterrupted(this.status);
  }

  get waiting(): number {
    return this.inputs?.length ?? 0;
  }

  push(event: TaskEvent): void {
    this.events.push(event);
    if (event.kind === "artifact") return;
    const { state, at } = event.kind === "status" ? event.status : event.task.status;
    this.status = state;
    this.statusAt = at;
    if (isTerminal(state) || isInterrupted(state)) this.holder = undefined;
  }

  hear(message: Envelope): void {
    this.#heard ??= [];
    this.#heard.push({ after: this.seq, message });
    this.#snapshot = undefined;
    const key = message.context.idempotencyKey;
    if (key === undefined) return;
    this.#heardKeys ??= new Set();
    this.#heardKeys.add(key);
  }

  hasHeard(message: Envelope): boolean {
    const key = message.context.idempotencyKey;
    return key !== undefined && this.#heardKeys?.has(key) === true;
  }

  get messagesHeard(): number {
    return this.#heard?.length ?? 0;
  }

  /** What the turn at hand hears: the last message that does not wait. */
  get message(): Envelope {
    const said = this.#heard?.[this.messagesHeard - this.waiting - 1]?.message ?? this.#firstTask().history.at(-1);
    if (said === undefined) throw new Error("a task begins with a message");
    return said;
  }

  /** The message that waits longest has its turn. False when none waits. */
  beginTurn(): boolean {
    if (this.inputs?.shift() === undefined) return false;
    this.turn += 1;
    return true;
  }

  turned(): Turned {
    return { epoch: this.epoch, seq: this.seq, turn: this.turn, task: this.snapshot().task, state: this.saved };
  }

  /** The task now. Folded as far as somebody looked; each entry is applied once. */
  snapshot(): Snapshot {
    const { seq } = this;
    if (this.#snapshot?.seq === seq) return this.#snapshot;
    this.#fold ??= this.#begin();
    this.#catchUp();
    const snapshot = { task: this.#fold.snapshot(), seq };
    // Most finished tasks are read once, by their own caller: only what is read again is kept beside its journal.
    if (!this.closed || this.#readClosed) this.#snapshot = snapshot;
    if (this.closed) {
      this.#readClosed = true;
      this.#fold = undefined;
    }
    return snapshot;
  }

  /** The task as it was at an earlier entry. */
  snapshotAt(at: number): Maybe<Snapshot> {
    if (at < 1 || at > this.seq) return undefined;
    if (at === this.seq) return this.snapshot();
    const fold = new TaskFold(this.#firstTask());
    let next = hearUpTo(fold, this.#heard, 0, 1);
    for (let seq = 2; seq <= at; seq++) {
      const event = this.events[seq - 1];
      if (event !== undefined) fold.apply(event);
      next = hearUpTo(fold, this.#heard, next, seq);
    }
    return { task: fold.snapshot(), seq: at };
  }

  ring(): void {
    if (this.listeners !== undefined) for (const run of [...this.listeners]) run();
  }

  #begin(): TaskFold {
    this.#folded = 1;
    this.#foldedHeard = 0;
    return new TaskFold(this.#firstTask());
  }

  #catchUp(): void {
    const fold = this.#fold;
    if (fold === undefined) return;
    this.#foldedHeard = hearUpTo(fold, this.#heard, this.#foldedHeard, this.#folded);
    while (this.#folded < this.events.length) {
      const event = this.events[this.#folded];
      if (event !== undefined) fold.apply(event);
      this.#folded += 1;
      this.#foldedHeard = hearUpTo(fold, this.#heard, this.#foldedHeard, this.#folded);
    }
  }

  #firstTask(): Task {
    const [first] = this.events;
    if (first?.kind !== "task") throw new Error("a journal begins with its task");
    return first.task;
  }
}

/** Messages said after an entry come behind it. Returns the first that was not said yet. */
function hearUpTo(fold: TaskFold, heard: readonly HeardMessage[] | undefined, from: number, seq: number): number {
  if (heard === undefined) return from;
  let next = from;
  for (let said = heard[next]; said !== undefined && said.after <= seq; said = heard[next]) {
    fold.addMessage(said.message);
    next += 1;
  }
  return next;
}
