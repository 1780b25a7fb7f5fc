import { AgentError, type Awaitable, type Json, type Maybe, type Task, type TaskEvent, TaskFold } from "../envelope/index.js";
import type { RuntimeContext } from "./runtime-context.js";
import type { Appended, Refusal } from "./store.js";
import { isStoreUnavailable, retryWhileUnavailable } from "./store-retry.js";

/** `unavailable`: the store did not answer in time. `unwritable`: the store can never accept these entries. */
export type WriteRefusal = Refusal | "unavailable" | "unwritable";

/** The result of a write. */
export type WriteResult =
  | { readonly ok: true; readonly cancelRequested: boolean }
  | { readonly ok: false; readonly because: WriteRefusal };

/** Which journal to write, in which epoch, after which entry. */
export interface WriterStart {
  readonly taskId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly seq: number;
  /** For `addedTo`. */
  readonly keepsWritten: boolean;
}

/** Whose journal is written. */
export interface WriterOwner {
  /** Called for every write that is not awaited. */
  onWritten(written: WriteResult): void;
}

const NOTHING_TO_WRITE: WriteResult = Object.freeze({ ok: true, cancelRequested: false });

/** The only writer of a task's journal: entries in order, one append at a time, batched per tick. */
export class JournalWriter {
  readonly taskId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly #context: RuntimeContext;
  readonly #run: WriterOwner;
  #seq: number;
  #pending: TaskEvent[] = [];
  /** Everything this writer has written, up to `entriesPerSnapshot`, if it is kept. */
  #written: TaskEvent[] | undefined;
  /** State to store with the next entries, or alone if there are none. */
  #state: Maybe<Json>;
  #writing: Promise<WriteResult> | undefined;
  /** Set once entries were rejected permanently: later entries would hide the gap. */
  #refused: Maybe<WriteResult>;

  constructor(context: RuntimeContext, start: WriterStart, run: WriterOwner) {
    this.#context = context;
    this.#run = run;
    this.taskId = start.taskId;
    this.owner = start.owner;
    this.epoch = start.epoch;
    this.#seq = start.seq;
    this.#written = start.keepsWritten ? [] : undefined;
  }

  /** Sequence number of the last written entry. */
  get seq(): number {
    return this.#seq;
  }

  /** The task with everything written so far, without reading the store. Undefined if the writer does not keep that. */
  addedTo(opening: Task): Maybe<Task> {
    if (this.#written === undefined) return undefined;
    const fold = new TaskFold(opening);
    for (const event of this.#written) fold.apply(event);
    return fold.snapshot();
  }

  get isFull(): boolean {
    return this.#pending.length >= this.#context.limits.entriesPerAppend;
  }

  add(event: TaskEvent): void {
    if (this.#pending.push(event) === 1) this.#context.afterThisTick(this);
  }

  /** Stores the state in one step with the next write. */
  keep(state: Json): void {
    if (this.#state === undefined && this.#pending.length === 0) this.#context.afterThisTick(this);
    this.#state = state;
  }

  /** Writes everything added so far, and `state`. */
  write(state?: Maybe<Json>): Awaitable<WriteResult> {
    if (this.#writing !== undefined) return this.#writing.then(() => this.write(state));
    if (this.#refused !== undefined) return this.#refused;
    if (this.#pending.length === 0 && state === undefined && this.#state === undefined) return NOTHING_TO_WRITE;
    const events = this.#pending;
    this.#pending = [];
    return this.#append(events, state, false);
  }

  /** Yields to the event loop, so that an agent that never awaits cannot starve others, and waits for the store. */
  async drain(): Promise<WriteResult> {
    await new Promise<void>((resolve) => this.#context.timers.nextTurn(resolve));
    return await this.write();
  }

  /** The last write of a turn, after everything added. If rejected with `queued`, the added entries stay pending. */
  end(ending: readonly TaskEvent[], state: Maybe<Json>, unlessQueued: boolean): Awaitable<WriteResult> {
    if (this.#writing !== undefined) return this.#writing.then(() => this.end(ending, state, unlessQueued));
    if (this.#refused !== undefined) return this.#refused;
    const before = this.#pending;
    this.#pending = [];
    const written = this.#append(before.length === 0 ? ending : before.concat(ending), state, unlessQueued);
    return written instanceof Promise ? written.then((result) => this.#ended(result, before)) : this.#ended(written, before);
  }

  #ended(written: WriteResult, before: readonly TaskEvent[]): WriteResult {
    if (!written.ok && written.because === "queued") for (const event of before) this.add(event);
    return written;
  }

  /** The last write of a task. If pending entries cannot be stored, only the closing status is written. */
  async close(status: TaskEvent): Promise<WriteResult> {
    const written = await this.end([status], undefined, false);
    if (written.ok || !isFault(written.because)) return written;
    this.#refused = undefined;
    this.#pending = [];
    return this.end([status], undefined, false);
  }

  /** The end of a tick in which something was added. */
  flush(): void {
    if (this.#pending.length === 0 && this.#state === undefined) return;
    const written = this.write();
    if (written instanceof Promise) void written.then((result) => this.#run.onWritten(result));
    else this.#run.onWritten(written);
  }

  /**
   * Never rejects: a failing store is reported as a rejected write. Epoch and sequence tell a store whether an
   * earlier attempt was written after all.
   */
  #append(events: readonly TaskEvent[], state: Maybe<Json>, unlessQueued: boolean): Awaitable<WriteResult> {
    const batch = { epoch: this.epoch, after: this.#seq, events, state: state ?? this.#state, unlessQueued };
    this.#state = undefined;
    const appending = retryWhileUnavailable(this.#context, () => this.#context.store.append(this.taskId, batch));
    if (!(appending instanceof Promise)) return this.#appended(events, appending);
    const writing = appending.then(
      (appended) => this.#appended(events, appended),
      (thrown: unknown) => this.#settled({ ok: false, because: isStoreUnavailable(thrown) ? "unavailable" : "unwritable" }),
    );
    this.#writing = writing;
    return writing;
  }

  #appended(events: readonly TaskEvent[], appended: Appended): WriteResult {
    if (!appended.ok) return this.#settled(appended);
    this.#seq += events.length;
    this.#keep(events);
    if (appended.pushDue) this.#context.push?.nudge();
    return this.#settled(appended);
  }

  #settled(written: WriteResult): WriteResult {
    this.#writing = undefined;
    if (!written.ok && written.because !== "queued") this.#refused = written;
    return written;
  }

  #keep(events: readonly TaskEvent[]): void {
    if (this.#written === undefined) return;
    if (this.#written.length + events.length > this.#context.limits.entriesPerSnapshot) this.#written = undefined;
    else for (const event of events) this.#written.push(event);
  }
}

/** The error of a write rejected because of its content; undefined if the lease was lost. */
export function faultOf(because: WriteRefusal): Maybe<AgentError> {
  if (!isFault(because)) return undefined;
  if (because === "unwritable") return new AgentError("internal", "the agent's output cannot be stored");
  return new AgentError("too_large", "the task has reached the limit of its journal");
}

/** True if the content was rejected, not the writer. */
function isFault(because: WriteRefusal): because is "full" | "unwritable" {
  return because === "full" || because === "unwritable";
}
