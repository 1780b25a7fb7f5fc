import type { Envelope, EventOf, Maybe, OperationOf, PushConfig, Task, TaskEvent } from "../envelope/index.js";

/** Who runs a task, until when, and in which epoch: a late writer is refused by its epoch. */
export interface Lease {
  readonly holder: string;
  readonly epoch: number;
  readonly untilMs: number;
}

/** One numbered line of a task's journal. */
export interface Entry {
  readonly seq: number;
  readonly event: TaskEvent;
}

export interface IdempotencyKey {
  readonly key: string;
  /** Of the request, so that the same key with another request is a conflict. */
  readonly digest: string;
  readonly keepMs: number;
}

export type Created =
  | { readonly made: true; readonly epoch: number }
  | { readonly made: false; readonly taskId: string; readonly sameRequest: boolean; readonly evicted: boolean };

export type Appended =
  | { readonly ok: true; readonly cancelRequested: boolean }
  | { readonly ok: false; readonly because: "fenced" | "sequence" | "closed" | "full" };

export interface Snapshot {
  readonly task: Task;
  /** Sequence number of the last entry the snapshot includes, read in the same step. */
  readonly seq: number;
}

/** Under the task runtime. Every method is one atomic step. */
export interface Store {
  create(task: Task, owner: string, key: Maybe<IdempotencyKey>, lease: Lease): Promise<Created>;
  append(taskId: string, epoch: number, after: number, entries: readonly Entry[]): Promise<Appended>;
  /** A message of the caller to a task that exists: into the history, and to its holder. */
  hear(taskId: string, owner: string, message: Envelope): Promise<Maybe<{ readonly holder: Maybe<string> }>>;
  /** A new turn of an interrupted task: a fresh lease, a fresh epoch. Undefined when somebody else holds it or it is closed. */
  resume(taskId: string, owner: string, lease: Lease): Promise<Maybe<{ readonly epoch: number; readonly seq: number }>>;
  /** Undefined for a task that is missing or somebody else's: the same answer for both. */
  read(
    taskId: string,
    owner: string,
    after: number,
    limit: number,
  ): Promise<Maybe<{ readonly firstKept: number; readonly entries: readonly Entry[]; readonly closed: boolean }>>;
  snapshot(taskId: string, owner: string, at?: number): Promise<Maybe<Snapshot>>;
  list(owner: string, query: OperationOf<"task.list">): Promise<EventOf<"task.list">>;
  /** Written down before it is told to anyone: the holder also learns of it from its next append or renewal. */
  requestCancel(taskId: string, owner: string): Promise<Maybe<{ readonly holder: Maybe<string> }>>;
  renew(taskId: string, epoch: number, untilMs: number): Promise<Appended>;
  takeOver(nowMs: number, holder: string, limit: number): Promise<readonly { readonly taskId: string; readonly epoch: number }[]>;
  /** The JSON value an agent saved for its next turn. */
  saveState(taskId: string, epoch: number, state: unknown): Promise<void>;
  loadState(taskId: string, owner: string): Promise<unknown>;
  setPush(owner: string, config: PushConfig): Promise<boolean>;
  pushes(taskId: string, owner: string): Promise<Maybe<readonly PushConfig[]>>;
  deletePush(taskId: string, owner: string, id: string): Promise<boolean>;
  /** A hint that something changed, never the data: readers read from their own cursor. */
  wake(taskId: string, run: () => void): () => void;
}
