import { AgentError, type Json, type Maybe, type TaskEvent } from "../envelope/index.js";
import type { Appended, Refusal } from "./store.js";
import type { Workplace } from "./workplace.js";

/** What became of a write. `store`: the store itself failed. */
export type Written =
  | { readonly ok: true; readonly cancelRequested: boolean }
  | { readonly ok: false; readonly because: Refusal | "store" };

/** Whose journal is written, by which epoch, from which entry on. */
export interface WriterStart {
  readonly taskId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly seq: number;
}

const NOTHING_TO_WRITE: Written = Object.freeze({ ok: true, cancelRequested: false });
/** Between two tries of a store that is away. */
const TRY_AGAIN_MS = 200;

/** The one writer of a task's journal: entries in order, one append at a time, those of one tick together. */
export class JournalWriter {
  readonly taskId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly #place: Workplace;
  readonly #heed: (written: Written) => void;
  #seq: number;
  #pending: TaskEvent[] = [];
  /** Everything this writer has written, as long as it is little. */
  #written: TaskEvent[] | undefined = [];
  #writing: Promise<Written> | undefined;

  /** `heed` hears of every write that nobody waited for. */
  constructor(place: Workplace, start: WriterStart, heed: (written: Written) => void) {
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

  /** All entries of this writer; undefined when they were too many to keep. */
  get written(): Maybe<readonly TaskEvent[]> {
    return this.#written;
  }

  get isFull(): boolean {
    return this.#pending.length >= this.#place.limits.entriesPerAppend;
  }

  add(event: TaskEvent): void {
    if (this.#pending.push(event) === 1) this.#place.afterThisTick(this.#flush);
  }

  /** Everything added so far is in the journal, or refused. */
  async write(): Promise<Written> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#pending.length === 0) return NOTHING_TO_WRITE;
    const events = this.#pending;
    this.#pending = [];
    return this.#append(events, undefined, false);
  }

  /** Waits for the next turn, so that an agent that never waits cannot keep the others from theirs, and for the store. */
  async drain(): Promise<Written> {
    await new Promise<void>((resolve) => this.#place.timers.nextTurn(resolve));
    return this.write();
  }

  /**
   * The last write of a turn: `ending` comes behind all that was added. Refused with `heard`, what was added before stays
   * to be written; refused as `full`, it is dropped.
   */
  async end(ending: readonly TaskEvent[], state: Maybe<Json>, unlessHeard: boolean): Promise<Written> {
    while (this.#writing !== undefined) await this.#writing;
    const before = this.#pending;
    this.#pending = [];
    const written = await this.#append(before.length === 0 ? ending : before.concat(ending), state, unlessHeard);
    if (!written.ok && written.because === "heard") for (const event of before) this.add(event);
    return written;
  }

  readonly #flush = (): void => {
    if (this.#pending.length > 0) void this.write().then(this.#heed);
  };

  async #append(events: readonly TaskEvent[], state: Maybe<Json>, unlessHeard: boolean): Promise<Written> {
    const writing = this.#tryAppend(events, state, unlessHeard);
    this.#writing = writing;
    const written = await writing;
    this.#writing = undefined;
    return written;
  }

  /**
   * Never rejects: a store that fails is a write that was refused. One that is away is asked again while our lease may still
   * hold; it knows by epoch and sequence whether the first try was written after all.
   */
  async #tryAppend(events: readonly TaskEvent[], state: Maybe<Json>, unlessHeard: boolean): Promise<Written> {
    const { store, ids, limits } = this.#place;
    const batch = { epoch: this.epoch, after: this.#seq, events, state, unlessHeard };
    const giveUpAt = ids.now() + limits.storeAwayMs;
    for (;;) {
      try {
        const appended: Appended = await store.append(this.taskId, batch);
        if (!appended.ok) return appended;
        this.#seq += events.length;
        this.#keep(events);
        if (appended.toTell) this.#place.push?.nudge();
        return appended;
      } catch (thrown) {
        if (!isAway(thrown) || ids.now() >= giveUpAt) return { ok: false, because: "store" };
        await this.#pause();
      }
    }
  }

  #keep(events: readonly TaskEvent[]): void {
    if (this.#written === undefined) return;
    if (this.#written.length + events.length > this.#place.limits.entriesPerSnapshot) this.#written = undefined;
    else for (const event of events) this.#written.push(event);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#place.timers.after(TRY_AGAIN_MS, resolve));
  }
}

function isAway(thrown: unknown): boolean {
  return thrown instanceof AgentError && thrown.code === "unavailable";
}
