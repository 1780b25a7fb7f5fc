import { isTerminal, type Maybe, type TaskEvent } from "../../../envelope/index.js";

/** Tasks remembered in one generation; there are two. */
const TASKS_REMEMBERED = 512;
/** Longer journals are read from the file. */
const LONGEST_REMEMBERED_BYTES = 16 * 1024;

/** Some entries of a task, and how long its journal is with them. */
export interface WrittenEntries {
  readonly taskId: string;
  readonly first: number;
  readonly events: readonly TaskEvent[];
  readonly bytes: number;
}

interface Written {
  readonly first: number;
  readonly events: TaskEvent[];
  bytes: number;
}

/**
 * Entries this process wrote recently, so that what a reader follows is not read and parsed again. Entries are immutable and cached after
 * their commit only; existence and length of a task always come from the file. A task that ended is kept for those who wait for its
 * entries: all others would only pass through the memory, at the expense of the garbage collector.
 */
export class RecentEntries {
  readonly #isAwaited: (taskId: string) => boolean;
  #young = new Map<string, TaskEvent[]>();
  #old = new Map<string, TaskEvent[]>();
  #written = new Map<string, Written>();

  constructor(isAwaited: (taskId: string) => boolean) {
    this.#isAwaited = isAwaited;
  }

  /** Called when a transaction begins. */
  forget(): void {
    this.#written = new Map();
  }

  note({ taskId, first, events, bytes }: WrittenEntries): void {
    const written = this.#written.get(taskId);
    if (written === undefined) {
      this.#written.set(taskId, { first, events: [...events], bytes });
      return;
    }
    for (const event of events) written.events.push(event);
    written.bytes = bytes;
  }

  /** The transaction is committed. */
  keep(): void {
    for (const [taskId, written] of this.#written) this.#remember(taskId, written);
    this.#written = new Map();
  }

  /** The journal from its first entry on, at least to entry `to`. */
  upTo(taskId: string, to: number): Maybe<readonly TaskEvent[]> {
    const events = this.#young.get(taskId) ?? this.#old.get(taskId);
    return events !== undefined && events.length >= to ? events : undefined;
  }

  #remember(taskId: string, { first, events, bytes }: Written): void {
    const before = first === 1 ? [] : (this.#young.get(taskId) ?? this.#old.get(taskId));
    if (before === undefined) return;
    const isRead = !isEnd(events.at(-1)) || this.#isAwaited(taskId);
    if (!isRead || before.length !== first - 1 || bytes > LONGEST_REMEMBERED_BYTES) {
      this.#young.delete(taskId);
      this.#old.delete(taskId);
      return;
    }
    before.push(...events);
    this.#young.set(taskId, before);
    if (this.#young.size < TASKS_REMEMBERED) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

function isEnd(event: Maybe<TaskEvent>): boolean {
  return event?.kind === "status" && isTerminal(event.status.state);
}
