import { AgentError, type Json, type Maybe, type Task, type TaskEvent, TaskFold } from "../envelope/index.js";
import { isAway, retryWhileAway } from "./retry-delay.js";
import type { RuntimeContext } from "./runtime-context.js";
import type { Refusal } from "./store.js";

/** `away`: the store did not answer for too long. `unwritable`: it cannot take these entries, now or ever. */
export type Unwritten = Refusal | "away" | "unwritable";

/** What became of a write. */
export type Written =
  | { readonly ok: true; readonly cancelRequested: boolean }
  | { readonly ok: false; readonly because: Unwritten };

/** Whose journal is written, by which epoch, from which entry on. */
export interface WriterStart {
  readonly taskId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly seq: number;
}

const NOTHING_TO_WRITE: Written = Object.freeze({ ok: true, cancelRequested: false });

/** The one writer of a task's journal: entries in order, one append at a time, those of one tick together. */
export class JournalWriter {
  readonly taskId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly #place: RuntimeContext;
  readonly #heed: (written: Written) => void;
  #seq: number;
  #pending: TaskEvent[] = [];
  /** Everything this writer has written, as long as it is little. */
  #written: TaskEvent[] | undefined = [];
  /** To be kept with the next entries, or alone when there are none. */
  #state: Maybe<Json>;
  #writing: Promise<Written> | undefined;
  /** Entries were refused for good: what comes behind them would hide that they are missing. */
  #refused: Maybe<Written>;

  /** `heed` hears of every write that nobody waited for. */
  constructor(place: RuntimeContext, start: WriterStart, heed: (written: Written) => void) {
    this.#place = place;
    this.#heed = heed;
    this.taskId = start.taskId;
    this.owner = start.owner;
    this.epoch = start.epoch;
    this.#seq = start.seq;
  }

  /** Sequence number of the last entry that was written. */
  get seq(): number {
    return this.#seq;
  }

  /** The task with all that was written: it saves asking the store for what was just given to it. Undefined when it is too much. */
  addedTo(opening: Task): Maybe<Task> {
    if (this.#written === undefined) return undefined;
    const fold = new TaskFold(opening);
    for (const event of this.#written) fold.apply(event);
    return fold.snapshot();
  }

  get isFull(): boolean {
    return this.#pending.length >= this.#place.limits.entriesPerAppend;
  }

  add(event: TaskEvent): void {
    if (this.#pending.push(event) === 1) this.#place.afterThisTick(this.#flush);
  }

  /** Kept in one step with whatever is written next. */
  keep(state: Json): void {
    if (this.#state === undefined && this.#pending.length === 0) this.#place.afterThisTick(this.#flush);
    this.#state = state;
  }

  /** Everything added so far is in the journal, and `state` beside it; or refused. */
  async write(state?: Maybe<Json>): Promise<Written> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#refused !== undefined) return this.#refused;
    if (this.#pending.length === 0 && state === undefined && this.#state === undefined) return NOTHING_TO_WRITE;
    const events = this.#pending;
    this.#pending = [];
    return this.#append(events, state, false);
  }

  /** Waits for the next turn, so that an agent that never waits cannot keep the others from theirs, and for the store. */
  async drain(): Promise<Written> {
    await new Promise<void>((resolve) => this.#place.timers.nextTurn(resolve));
    return this.write();
  }

  /** The last write of a turn: `ending` comes behind all that was added, which stays to be written if refused with `heard`. */
  async end(ending: readonly TaskEvent[], state: Maybe<Json>, unlessHeard: boolean): Promise<Written> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#refused !== undefined) return this.#refused;
    const before = this.#pending;
    this.#pending = [];
    const written = await this.#append(before.length === 0 ? ending : before.concat(ending), state, unlessHeard);
    if (!written.ok && written.because === "heard") for (const event of before) this.add(event);
    return written;
  }

  /** The last write of all. Where something cannot be kept, only the status is written: it says that the task has failed. */
  async close(status: TaskEvent): Promise<Written> {
    const written = await this.end([status], undefined, false);
    if (written.ok || !isFault(written.because)) return written;
    this.#refused = undefined;
    this.#pending = [];
    return this.end([status], undefined, false);
  }

  readonly #flush = (): void => {
    if (this.#pending.length > 0 || this.#state !== undefined) void this.write().then(this.#heed);
  };

  async #append(events: readonly TaskEvent[], state: Maybe<Json>, unlessHeard: boolean): Promise<Written> {
    const kept = state ?? this.#state;
    this.#state = undefined;
    const writing = this.#tryAppend(events, kept, unlessHeard);
    this.#writing = writing;
    const written = await writing;
    this.#writing = undefined;
    if (!written.ok && written.because !== "heard") this.#refused = written;
    return written;
  }

  /**
   * Never rejects: a store that fails is a write that was refused. One that was away knows by epoch and sequence whether an
   * earlier try was written after all.
   */
  async #tryAppend(events: readonly TaskEvent[], state: Maybe<Json>, unlessHeard: boolean): Promise<Written> {
    const batch = { epoch: this.epoch, after: this.#seq, events, state, unlessHeard };
    try {
      const appended = await retryWhileAway(this.#place, () => this.#place.store.append(this.taskId, batch));
      if (!appended.ok) return appended;
      this.#seq += events.length;
      this.#keep(events);
      if (appended.toTell) this.#place.push?.nudge();
      return appended;
    } catch (thrown) {
      return { ok: false, because: isAway(thrown) ? "away" : "unwritable" };
    }
  }

  #keep(events: readonly TaskEvent[]): void {
    if (this.#written === undefined) return;
    if (this.#written.length + events.length > this.#place.limits.entriesPerSnapshot) this.#written = undefined;
    else for (const event of events) this.#written.push(event);
  }
}

/** What the agent did wrong, where a write was refused for it; undefined where the task is simply not ours any more. */
export function faultOf(because: Unwritten): Maybe<AgentError> {
  if (!isFault(because)) return undefined;
  if (because === "unwritable") return new AgentError("internal", "what the agent said cannot be kept");
  return new AgentError("too_large", "the task has reached the limit of its journal");
}

/** Refused for what was said, not for who says it. */
function isFault(because: Unwritten): because is "full" | "unwritable" {
  return because === "full" || because === "unwritable";
}
