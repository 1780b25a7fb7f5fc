import {
  AgentError,
  type AgentEvent,
  type Call,
  type Maybe,
  type ReadyWaiter,
  type State,
  TAKE_READY,
  WHEN_READY,
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

const IDLE: Promise<unknown> = Promise.resolve();
const NOTHING_READ: readonly Entry[] = Object.freeze([]);
const OVER: IteratorResult<AgentEvent> = Object.freeze({ done: true, value: undefined });

/**
 * Reads a task's journal from a cursor on. It pulls on demand, so a slow reader costs a cursor, not a queue. Written
 * by hand, because `return()` on a suspended generator waits for it. Readers do not affect the task.
 */
export class JournalReader implements AsyncIterableIterator<AgentEvent>, EndableReader {
  slot: number | undefined;
  readonly #context: RuntimeContext;
  readonly #taskId: string;
  readonly #owner: string;
  readonly #endsAt: Reading["endsAt"];
  readonly #follow: boolean;
  readonly #offStore: () => void;
  readonly #offCall: (() => void) | undefined;
  #whenOver: (() => void) | undefined;
  #first: Maybe<AgentEvent>;
  #after: number;
  #page = NOTHING_READ;
  #next = 0;
  #over = false;
  #failure: AgentError | undefined;
  /** Set when nothing more than the journal has is waited for. */
  #finishing: AgentError | undefined;
  #notified = false;
  /** Everything written before the last notice was read. */
  #hasAll = false;
  /** Is told of the next entry. */
  #waiter: ReadyWaiter | undefined;
  /** Other processes do not write, and the store reads at once: an entry costs its reader one promise. */
  #isDirect: boolean;
  /** The first page of a store that turned out not to read at once. */
  #pageToCome: ReturnType<Store["read"]> | undefined;
  #pendingReads = 0;
  #last: Promise<unknown> = IDLE;

  constructor(context: RuntimeContext, reading: Reading, call: Call) {
    this.#context = context;
    this.#taskId = reading.taskId;
    this.#owner = reading.owner;
    this.#endsAt = reading.endsAt;
    this.#follow = reading.follow;
    this.#first = reading.first;
    this.#after = reading.after;
    this.#isDirect = context.store.listen === undefined;
    context.readers.add(this);
    this.#offStore = context.store.wake(reading.taskId, () => this.#notify());
    this.#offCall = onCallAborted(context, call, (reason) => this.end(reason));
    // The call was over already.
    if (this.#over) this.#offCall();
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
    const step = this.#pendingReads > 1 ? this.#stepAfter(this.#last) : this.#isDirect ? this.#waitForEntry() : this.#step();
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

  [WHEN_READY](waiter: ReadyWaiter): boolean {
    const isIdle = this.#isDirect && this.#pendingReads === 0 && !this.#over && this.#hasAll && !this.#notified;
    if (isIdle) this.#waiter = waiter;
    return isIdle;
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
      this.#whenOver = resolve;
      this.#finishing = reason;
      this.#notify();
    });
  }

  #stepAfter(last: Promise<unknown>): Promise<IteratorResult<AgentEvent>> {
    const step = () => this.#step();
    return last.then(step, step);
  }

  async #step(): Promise<IteratorResult<AgentEvent>> {
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
  }

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
    const { store, limits } = this.#context;
    return store.read(this.#taskId, this.#owner, this.#after, limits.entriesPerRead);
  }

  /** A read that gets the next entry as soon as it is written. */
  #waitForEntry(): Promise<IteratorResult<AgentEvent>> {
    return new Promise((resolve, reject) => {
      const ready = (): void => {
        try {
          const taken = this.#takeNow();
          if (taken === undefined) {
            if (this.#isDirect) this.#waiter = { ready };
            else resolve(this.#step());
            return;
          }
          this.#pendingReads -= 1;
          resolve(taken);
        } catch (thrown) {
          this.#pendingReads -= 1;
          reject(this.#failed(thrown));
        }
      };
      this.#waiter = { ready };
    });
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
    if (this.#next === this.#page.length) this.#page = NOTHING_READ;
    this.#after = seq;
    if (event.kind !== "artifact") {
      const { state } = event.kind === "status" ? event.status : event.task.status;
      if (this.#endsAt(state)) this.#stop();
    }
    return withCursor(event, cursorOf(this.#taskId, seq));
  }

  #turnTo(page: Awaited<ReturnType<Store["read"]>>): void {
    if (page === undefined || this.#after + 1 < page.firstKept) {
      this.end(new AgentError("expired", "these entries of the task are no longer kept", { detail: { taskId: this.#taskId } }));
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
      this.#hasAll = isRest && this.#follow && !closed && this.#finishing === undefined;
    } else if (closed || !this.#follow) this.#stop();
    else if (this.#finishing !== undefined) this.end(this.#finishing);
  }

  async #wait(): Promise<void> {
    // Notifications between processes can be lost, so a shared store is also polled.
    const { store, timers, limits } = this.#context;
    const off = store.listen === undefined ? undefined : timers.after(limits.lookAgainMs, () => this.#notify());
    await new Promise<void>((resolve) => {
      this.#waiter = { ready: resolve };
    });
    off?.();
  }

  #notify(): void {
    this.#notified = true;
    const waiter = this.#waiter;
    // Taking the last entry stops the reader, which notifies again.
    this.#waiter = undefined;
    waiter?.ready();
  }

  #stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#context.readers.remove(this);
    this.#offStore();
    this.#offCall?.();
    this.#whenOver?.();
    this.#notify();
  }
}
