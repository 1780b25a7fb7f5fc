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
import type { NewTask, Snapshot, TurnState } from "../store.js";
import { isWhole, type PackedEvent, type PackedIds, packEvent, unpackEvent } from "./packed-events.js";
import { PushState } from "./push-state.js";

type ArtifactEvent = Extract<TaskEvent, { readonly kind: "artifact" }>;

interface CallerMessage {
  /** The entry it came after. */
  readonly after: number;
  readonly message: Envelope;
}

/** Everything the memory store knows of one task. */
export class TaskRecord implements PackedIds {
  readonly taskId: string;
  readonly contextId: string;
  readonly owner: string;
  readonly agent: string;
  readonly key: Maybe<string>;
  /** Queued messages. Created on first use, because most tasks have none. */
  inputs: Envelope[] | undefined;
  pushes: PushState[] | undefined;
  status: State;
  statusAt: number;
  bytes: number;
  turn = 1;
  epoch = 1;
  holder: Maybe<string>;
  leaseUntilMs: number;
  cancelRequested = false;
  saved: Maybe<Json>;
  /** Most tasks have none or one, others thousands. */
  #listeners: (() => void) | Set<() => void> | undefined;
  /** Its place among the tasks with a holder. */
  slot: number | undefined;
  /** Neighbours among the idle tasks of its subject. */
  older: TaskRecord | undefined;
  newer: TaskRecord | undefined;
  /** Entry `n` of the journal is the one before `n`. */
  #events: PackedEvent[];
  /** The first one of an ended task. */
  artifactId = "";
  #messages: CallerMessage[] | undefined;
  #messageKeys: Set<string> | undefined;
  #fold: TaskFold | undefined;
  #folded = 0;
  #foldedMessages = 0;
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
    this.#events = [first];
    this.status = task.status.state;
    this.statusAt = task.status.at;
    this.bytes = eventSize(first);
    this.holder = lease.holder;
    this.leaseUntilMs = nowMs + lease.leaseMs;
    if (start.push !== undefined) this.pushes = [new PushState(start.push, 0)];
  }

  get seq(): number {
    return this.#events.length;
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
    this.#events.push(event);
    if (event.kind === "artifact") return;
    const { state, at } = event.kind === "status" ? event.status : event.task.status;
    this.status = state;
    this.statusAt = at;
    if (isTerminal(state) || isInterrupted(state)) this.holder = undefined;
    if (isTerminal(state)) this.#pack();
  }

  /** The entry of the journal with this number. */
  event(seq: number): Maybe<TaskEvent> {
    const kept = this.#events[seq - 1];
    return kept === undefined ? undefined : unpackEvent(kept, this);
  }

  /** A task that ended keeps what its events differ in. And a list that grew has room for more. */
  #pack(): void {
    const artifact = this.#events.find((event): event is ArtifactEvent => isWhole(event) && event.kind === "artifact");
    if (artifact !== undefined) this.artifactId = artifact.artifact.id;
    this.#events = this.#events.map((event) => (isWhole(event) ? packEvent(event, this) : event));
  }

  addMessage(message: Envelope): void {
    this.#messages ??= [];
    this.#messages.push({ after: this.seq, message });
    this.#snapshot = undefined;
    const key = message.context.idempotencyKey;
    if (key === undefined) return;
    this.#messageKeys ??= new Set();
    this.#messageKeys.add(key);
  }

  hasMessage(message: Envelope): boolean {
    const key = message.context.idempotencyKey;
    return key !== undefined && this.#messageKeys?.has(key) === true;
  }

  get messageCount(): number {
    return this.#messages?.length ?? 0;
  }

  /** The message of the current turn: the last one that is not queued. */
  get message(): Envelope {
    const found = this.#messages?.[this.messageCount - this.waiting - 1]?.message ?? this.#firstTask().history.at(-1);
    if (found === undefined) throw new Error("a task begins with a message");
    return found;
  }

  /** Begins the turn of the oldest queued message. False if none is queued. */
  beginTurn(): boolean {
    if (this.inputs?.shift() === undefined) return false;
    this.turn += 1;
    return true;
  }

  turnState(): TurnState {
    return { epoch: this.epoch, seq: this.seq, turn: this.turn, task: this.snapshot().task, state: this.saved };
  }

  /** The current task. Folded lazily; each entry is applied once. */
  snapshot(): Snapshot {
    const { seq } = this;
    if (this.#snapshot?.seq === seq) return this.#snapshot;
    this.#fold ??= this.#begin();
    this.#catchUp();
    const snapshot = { task: this.#fold.snapshot(), seq };
    // Most finished tasks are read once, by their own caller: only what is read again is cached.
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
    let next = applyMessages(fold, this.#messages, 0, 1);
    for (let seq = 2; seq <= at; seq++) {
      const event = this.event(seq);
      if (event !== undefined) fold.apply(event);
      next = applyMessages(fold, this.#messages, next, seq);
    }
    return { task: fold.snapshot(), seq: at };
  }

  listen(run: () => void): void {
    const others = this.#listeners;
    if (others === undefined) this.#listeners = run;
    else if (others instanceof Set) others.add(run);
    else this.#listeners = new Set([others, run]);
  }

  unlisten(run: () => void): void {
    const all = this.#listeners;
    if (all instanceof Set) all.delete(run);
    if (all === run || (all instanceof Set && all.size === 0)) this.#listeners = undefined;
  }

  notify(): void {
    if (typeof this.#listeners === "function") this.#listeners();
    else if (this.#listeners !== undefined) for (const run of [...this.#listeners]) run();
  }

  #begin(): TaskFold {
    this.#folded = 1;
    this.#foldedMessages = 0;
    return new TaskFold(this.#firstTask());
  }

  #catchUp(): void {
    const fold = this.#fold;
    if (fold === undefined) return;
    this.#foldedMessages = applyMessages(fold, this.#messages, this.#foldedMessages, this.#folded);
    while (this.#folded < this.seq) {
      const event = this.event(this.#folded + 1);
      if (event !== undefined) fold.apply(event);
      this.#folded += 1;
      this.#foldedMessages = applyMessages(fold, this.#messages, this.#foldedMessages, this.#folded);
    }
  }

  #firstTask(): Task {
    const first = this.event(1);
    if (first?.kind !== "task") throw new Error("a journal begins with its task");
    return first.task;
  }
}

/** Applies messages up to an entry. Returns the index of the first one not applied. */
function applyMessages(fold: TaskFold, messages: readonly CallerMessage[] | undefined, from: number, seq: number): number {
  if (messages === undefined) return from;
  let next = from;
  for (let found = messages[next]; found !== undefined && found.after <= seq; found = messages[next]) {
    fold.addMessage(found.message);
    next += 1;
  }
  return next;
}
