import {
  AgentError,
  type AgentEvent,
  type Call,
  type Cursor,
  isTerminal,
  type Maybe,
  type State,
  type TaskEvent,
} from "../envelope/index.js";
import { cursorOf } from "./cursor.js";
import { asOurs } from "./refusals.js";
import type { Endable, RuntimeContext } from "./runtime-context.js";
import type { Entry } from "./store.js";
import { onGivingUp } from "./wait.js";

/** What is read, from where, and how far. */
export interface Reading {
  readonly taskId: string;
  readonly owner: string;
  /** The reader has seen everything up to here. */
  readonly after: number;
  /** Given before anything is read. */
  readonly first: Maybe<AgentEvent>;
  /** States after which nothing more is given. */
  endsAt(state: State): boolean;
  /** False: the log as it is, and no waiting. */
  readonly follow: boolean;
}

const NOT_ASKED: Promise<unknown> = Promise.resolve();
const OVER: IteratorResult<AgentEvent> = Object.freeze({ done: true, value: undefined });

/**
 * A task's journal from a cursor on. It pulls when its reader does, so a slow reader costs a cursor, not a queue. Written
 * by hand, because `return()` on a waiting generator waits with it. The task does not notice its readers.
 */
export class JournalReader implements AsyncIterableIterator<AgentEvent>, Endable {
  readonly #place: RuntimeContext;
  readonly #reading: Reading;
  readonly #release: (() => void)[] = [];
  #first: Maybe<AgentEvent>;
  #after: number;
  #page: readonly Entry[] = [];
  #next = 0;
  #over = false;
  #failure: AgentError | undefined;
  #rung = false;
  #wakeUp: (() => void) | undefined;
  #asked = 0;
  #last: Promise<unknown> = NOT_ASKED;

  constructor(place: RuntimeContext, reading: Reading, call: Call) {
    this.#place = place;
    this.#reading = reading;
    this.#first = reading.first;
    this.#after = reading.after;
    place.readers.add(this);
    this.#release.push(
      place.store.wake(reading.taskId, () => this.#ring()),
      onGivingUp(place, call, (reason) => this.end(reason)),
    );
  }

  /** Sequence number of the last entry that was given. */
  get after(): number {
    return this.#after;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    this.#asked += 1;
    // Whoever asks again before the answer gets the entries in the order of asking.
    const step = this.#asked === 1 ? this.#step() : this.#last.then(this.#step, this.#step);
    this.#last = step;
    return step;
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    this.#stop();
    return OVER;
  }

  /** Nothing more is given: the reader went away, its time is over, or the runtime closes. */
  end(reason: AgentError): void {
    if (this.#over) return;
    this.#failure = reason;
    this.#stop();
  }

  readonly #step = async (): Promise<IteratorResult<AgentEvent>> => {
    try {
      const first = this.#first;
      if (first !== undefined && this.#failure === undefined) {
        this.#first = undefined;
        return { done: false, value: first };
      }
      while (!this.#over) {
        const entry = this.#page[this.#next];
        if (entry !== undefined) return { done: false, value: this.#give(entry) };
        await this.#pull();
      }
      return this.#ending();
    } catch (thrown) {
      this.#stop();
      throw asOurs(thrown);
    } finally {
      this.#asked -= 1;
    }
  };

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

  async #pull(): Promise<void> {
    const { taskId, owner, follow } = this.#reading;
    this.#rung = false;
    const page = await this.#place.store.read(taskId, owner, this.#after, this.#place.limits.entriesPerRead);
    if (page === undefined || this.#after + 1 < page.firstKept) {
      this.end(new AgentError("expired", "these entries of the task are no longer kept", { detail: { taskId } }));
      return;
    }
    this.#page = page.entries;
    this.#next = 0;
    if (page.entries.length > 0) return;
    if (page.closed || !follow) this.#stop();
    else if (!this.#rung && !this.#over) await this.#wait();
  }

  async #wait(): Promise<void> {
    // Hints between processes can be lost; in one process they cannot.
    const { store, timers, limits } = this.#place;
    const off = store.listen === undefined ? undefined : timers.after(limits.lookAgainMs, () => this.#ring());
    await new Promise<void>((resolve) => {
      this.#wakeUp = resolve;
    });
    off?.();
  }

  #ring(): void {
    this.#rung = true;
    this.#wakeUp?.();
    this.#wakeUp = undefined;
  }

  #stop(): void {
    this.#over = true;
    this.#place.readers.delete(this);
    for (const release of this.#release.splice(0)) release();
    this.#ring();
  }
}

/** The event with its place in the log. Member by member: a spread costs several times as much, and this runs for every event. */
function withCursor(event: TaskEvent, cursor: Cursor): AgentEvent {
  switch (event.kind) {
    case "task":
      return { kind: "task", task: event.task, head: event.head, cursor };
    case "status": {
      const { taskId, contextId, status, metadata, head } = event;
      return { kind: "status", taskId, contextId, status, metadata, head, cursor };
    }
    case "artifact": {
      const { taskId, contextId, artifact, append, last, metadata, head } = event;
      return { kind: "artifact", taskId, contextId, artifact, append, last, metadata, head, cursor };
    }
    default:
      return event satisfies never;
  }
}

/** Where a stream that a send has opened ends: A2A 1.0 §7.6.1 keeps it open while an authorization is awaited. */
export function endsSendStream(state: State): boolean {
  return isTerminal(state) || state === "input-required";
}
