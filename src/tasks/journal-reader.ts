import {
  AgentError,
  type AgentEvent,
  type Call,
  isTerminal,
  type Maybe,
  type State,
  TAKE_READY,
  withCursor,
} from "../envelope/index.js";
import { cursorOf } from "./cursor.js";
import { asAgentError } from "./refusals.js";
import type { EndableReader, RuntimeContext } from "./runtime-context.js";
import type { Entry, Store } from "./store.js";
import { onCallAborted } from "./wait.js";

/** Which part of a journal to read. */
export interface Reading {
  readonly taskId: string;
  readonly owner: string;
  /** Sequence number of the last entry the reader has. */
  readonly after: number;
  /** Delivered before the first entry. */
  readonly first: Maybe<AgentEvent>;
  /** True for states that end the stream. */
  endsAt(state: State): boolean;
  /** False: deliver the existing entries and stop. */
  readonly follow: boolean;
}

interface WaitingRead {
  resolve(step: IteratorResult<AgentEvent> | Promise<IteratorResult<AgentEvent>>): void;
  reject(reason: AgentError): void;
}

const IDLE: Promise<unknown> = Promise.resolve();
const OVER: IteratorResult<AgentEvent> = Object.freeze({ done: true, value: undefined });

/**
 * Reads a task's journal from a cursor on. It pulls on demand, so a slow reader costs a cursor, not a queue. Written
 * by hand, because `return()` on a suspended generator waits for it. Readers do not affect the task.
 */
export class JournalReader implements AsyncIterableIterator<AgentEvent>, EndableReader {
  slot: number | undefined;
  readonly #context: RuntimeContext;
  readonly #reading: Reading;
  readonly #release: (() => void)[] = [];
  #first: Maybe<AgentEvent>;
  #after: number;
  #page: readonly Entry[] = [];
  #next = 0;
  #over = false;
  #failure: AgentError | undefined;
  /** Set when nothing more than the journal has is waited for. */
  #finishing: AgentError | undefined;
  #notified = false;
  /** Everything written before the last notice was read. */
  #hasAll = false;
  #wakeUp: (() => void) | undefined;
  /** The read that gets the next entry, where the store reads at once. */
  #waiting: WaitingRead | undefined;
  /** Other processes do not write, and the store reads at once: an entry costs its reader one promise. */
  #isDirect: boolean;
  /** The first page of a store that turned out not to read at once. */
  #pageToCome: ReturnType<Store["read"]> | undefined;
  #pendingReads = 0;
  #last: Promise<unknown> = IDLE;

  constructor(context: RuntimeContext, reading: Reading, call: Call) {
    this.#context = context;
    this.#reading = reading;
    this.#first = reading.first;
    this.#after = reading.after;
    this.#isDirect = context.store.listen === undefined;
    context.readers.add(this);
    this.#release.push(
      context.store.wake(reading.taskId, () => this.#notify()),
      onCallAborted(context, call, (reason) => this.end(reason)),
    );
  }

  /** Sequence number of the last delivered entry. */
  get after(): number {
    return this.#after;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#isDirect && this.#pendingReads === 0) {
      try {
        const ready = this.#takeNow();
        if (ready !== undefined) return Promise.resolve(ready);
      } catch (thrown) {
        return Promise.reject(this.#failed(thrown));
      }
    }
    this.#pendingReads += 1;
    // Concurrent calls get the entries in the order of the calls.
    const step =
      this.#pendingReads > 1 ? this.#last.then(this.#step, this.#step) : this.#isDirect ? this.#waitForEntry() : this.#step();
    this.#last = step;
    return step;
  }

  /** The next event if it is there; undefined if it must be waited for, by `next`. */
  [TAKE_READY](): AgentEvent | undefined {
    if (!this.#isDirect || this.#pendingReads > 0 || this.#over) return undefined;
    try {
      const ready = this.#takeNow();
      return ready?.done === false ? ready.value : undefined;
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    this.#stop();
    return OVER;
  }

  /** Ends the stream with an error: cancel, deadline or shutdown. */
  end(reason: AgentError): void {
    if (this.#over) return;
    this.#failure = reason;
    this.#stop();
  }

  finish(reason: AgentError): Promise<void> {
    return new Promise((resolve) => {
      if (this.#over) {
        resolve();
        return;
      }
      this.#release.push(resolve);
      this.#finishing = reason;
      this.#notify();
    });
  }

  readonly #step = async (): Promise<IteratorResult<AgentEvent>> => {
    try {
      for (;;) {
        const ready = this.#takeReady();
        if (ready !== undefined) return ready;
        if (this.#pageToCome === undefined && this.#hasAll && !this.#notified) await this.#wait();
        else this.#turnTo(await this.#read());
      }
    } catch (thrown) {
      throw this.#failed(thrown);
    } finally {
      this.#pendingReads -= 1;
    }
  };

  /** What can be returned without reading. */
  #takeReady(): IteratorResult<AgentEvent> | undefined {
    const first = this.#first;
    if (first !== undefined && this.#failure === undefined) {
      this.#first = undefined;
      return { done: false, value: first };
    }
    if (this.#over) return this.#ending();
    const entry = this.#page[this.#next];
    return entry === undefined ? undefined : { done: false, value: this.#give(entry) };
  }

  /** The same, of a store that reads at once. Undefined if there is nothing yet, or if it turns out that the store does not. */
  #takeNow(): IteratorResult<AgentEvent> | undefined {
    for (;;) {
      const ready = this.#takeReady();
      if (ready !== undefined || (this.#hasAll && !this.#notified)) return ready;
      const page = this.#read();
      if (page instanceof Promise) {
        this.#isDirect = false;
        this.#pageToCome = page;
        // Until somebody waits for it.
        page.catch(() => undefined);
        return undefined;
      }
      this.#turnTo(page);
    }
  }

  #read(): ReturnType<Store["read"]> {
    const begun = this.#pageToCome;
    this.#pageToCome = undefined;
    if (begun !== undefined) return begun;
    this.#notified = false;
    const { taskId, owner } = this.#reading;
    return this.#context.store.read(taskId, owner, this.#after, this.#context.limits.entriesPerRead);
  }

  #waitForEntry(): Promise<IteratorResult<AgentEvent>> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** Gives the waiting read what has been written. */
  #serve(waiting: WaitingRead): void {
    // Taking the last entry stops the reader, which notifies again.
    this.#waiting = undefined;
    try {
      const ready = this.#takeNow();
      if (ready === undefined) {
        if (this.#isDirect) this.#waiting = waiting;
        else waiting.resolve(this.#step());
        return;
      }
      this.#pendingReads -= 1;
      waiting.resolve(ready);
    } catch (thrown) {
      this.#pendingReads -= 1;
      waiting.reject(this.#failed(thrown));
    }
  }

  #failed(thrown: unknown): AgentError {
    this.#stop();
    return asAgentError(thrown);
  }

  #ending(): IteratorResult<AgentEvent> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    return OVER;
  }

  #give({ seq, event }: Entry): AgentEvent {
    this.#next += 1;
    this.#after = seq;
    if (event.kind !== "artifact") {
      const { state } = event.kind === "status" ? event.status : event.task.status;
      if (this.#reading.endsAt(state)) this.#stop();
    }
    return withCursor(event, cursorOf(this.#reading.taskId, seq));
  }

  #turnTo(page: Awaited<ReturnType<Store["read"]>>): void {
    const { taskId, follow } = this.#reading;
    if (page === undefined || this.#after + 1 < page.firstKept) {
      this.end(new AgentError("expired", "these entries of the task are no longer kept", { detail: { taskId } }));
      return;
    }
    const { entries, closed } = page;
    this.#page = entries;
    this.#next = 0;
    this.#hasAll = entries.length === 0;
    if (entries.length > 0) {
      // Where no other process writes, a page that is not full was the rest: another read would find nothing before the next notice.
      const { store, limits } = this.#context;
      const isRest = store.listen === undefined && entries.length < limits.entriesPerRead;
      this.#hasAll = isRest && follow && !closed && this.#finishing === undefined;
    } else if (closed || !follow) this.#stop();
    else if (this.#finishing !== undefined) this.end(this.#finishing);
  }

  async #wait(): Promise<void> {
    // Notifications between processes can be lost, so a shared store is also polled.
    const { store, timers, limits } = this.#context;
    const off = store.listen === undefined ? undefined : timers.after(limits.lookAgainMs, () => this.#notify());
    await new Promise<void>((resolve) => {
      this.#wakeUp = resolve;
    });
    off?.();
  }

  #notify(): void {
    this.#notified = true;
    this.#wakeUp?.();
    this.#wakeUp = undefined;
    if (this.#waiting !== undefined) this.#serve(this.#waiting);
  }

  #stop(): void {
    this.#over = true;
    this.#context.readers.remove(this);
    for (const release of this.#release.splice(0)) release();
    this.#notify();
  }
}

/** States that end the stream of a send. A2A 1.0 §7.6.1 keeps it open while authorization is pending. */
export function endsSendStream(state: State): boolean {
  return isTerminal(state) || state === "input-required";
}
