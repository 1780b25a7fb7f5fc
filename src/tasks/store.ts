import type {
  Envelope,
  EventOf,
  Json,
  Maybe,
  OperationOf,
  PushConfig,
  Records,
  State,
  Task,
  TaskEvent,
} from "../envelope/index.js";

/** Who wants to run a task, and for how long without renewal. The store's own clock decides when that is over. */
export interface LeaseRequest {
  readonly holder: string;
  readonly leaseMs: number;
}

/** A caller's own name for a request. */
export interface IdempotencyKey {
  readonly key: string;
  /** Of the request, so that the same key with another request is a conflict. */
  readonly digest: string;
  readonly keepMs: number;
}

/** A task to be made, with all that must be true from its first moment. */
export interface NewTask {
  /** The first entry of the journal, at sequence 1. */
  readonly task: Task;
  readonly owner: string;
  readonly agent: string;
  readonly key: Maybe<IdempotencyKey>;
  readonly lease: LeaseRequest;
  /** Who is to be told of everything, the task itself included. */
  readonly push?: Maybe<PushConfig>;
}

/** `repeated`: the key and this very request are known. `expired`: they are, and the task is gone. `full`: no room, try later. */
export type Created =
  | { readonly made: true; readonly epoch: number }
  | { readonly made: false; readonly because: "repeated"; readonly taskId: string }
  | { readonly made: false; readonly because: "conflict" | "expired" | "full" };

/** One numbered line of a task's journal. */
export interface Entry {
  readonly seq: number;
  readonly event: TaskEvent;
}

/** Entries that are written together or not at all. */
export interface Batch {
  readonly epoch: number;
  /** Sequence number of the last entry the writer knows of. */
  readonly after: number;
  readonly events: readonly TaskEvent[];
  /** The JSON value an agent saved for its next turn; undefined leaves the old one. */
  readonly state: Maybe<Json>;
  /** Refuse (`heard`) while a message of the caller waits for its turn. */
  readonly unlessHeard: boolean;
}

/**
 * `fenced`: another epoch holds the task. `sequence`: the writer has missed entries. `closed`: a terminal state is final.
 * `full`: the journal has reached its limit; one closing status alone is always taken.
 */
export type Refusal = "fenced" | "sequence" | "closed" | "full" | "heard";
export type Appended =
  /** `toTell`: a webhook waits to be told of it. */
  | { readonly ok: true; readonly cancelRequested: boolean; readonly toTell: boolean }
  | { readonly ok: false; readonly because: Refusal };

/** `busy`: too many messages wait already. `full`: the journal's limit. `repeated`: heard before, by its idempotency key. */
export type Heard = "heard" | "repeated" | "missing" | "closed" | "interrupted" | "busy" | "full";

/** A task at the beginning of a turn. */
export interface Turned {
  readonly epoch: number;
  readonly seq: number;
  readonly turn: number;
  readonly task: Task;
  readonly state: Maybe<Json>;
}
export type Resumed =
  | ({ readonly ok: true } & Turned)
  | { readonly ok: false; readonly because: "missing" | "closed" | "running" | "repeated" | "full" };

/** A task and how much of its journal it includes. */
export interface Snapshot {
  readonly task: Task;
  /** Sequence number of the last entry the snapshot includes, read in the same step. */
  readonly seq: number;
}

/** What is known of a task without its content. */
export interface Facts {
  readonly agent: string;
  readonly contextId: string;
  readonly state: State;
  readonly seq: number;
  /** What the agent has kept beside it. */
  readonly saved: Maybe<Json>;
}

/** `closed`: ended before. `canceled`: nobody ran it, so it is canceled now. `told`: its holder has to stop. */
export type CancelRequested =
  | { readonly outcome: "closed" | "canceled"; readonly state: State }
  | { readonly outcome: "told"; readonly holder: string };

/** A task as its holder knows it. */
export interface Hold {
  readonly taskId: string;
  readonly epoch: number;
}

/** A task whose holder is gone, in new hands. */
export interface TakenOver extends Hold {
  readonly owner: string;
  readonly agent: string;
  readonly contextId: string;
  readonly seq: number;
  readonly turn: number;
  /** What this turn hears. Others may wait behind it. */
  readonly message: Envelope;
  readonly state: Maybe<Json>;
  readonly cancelRequested: boolean;
}

/** A webhook that has something to be told, in the hands of the one who tells it. */
export interface DuePush {
  readonly owner: string;
  readonly agent: string;
  /** With `delivery`: entries after its `seq` are to be told, in order. */
  readonly config: PushConfig;
  /** Goes up each time it is taken into hands: a late teller is refused. */
  readonly epoch: number;
}

/**
 * `accepted`: told up to this entry, and the lease begins anew. `idle`: nothing is left for now; it is let go. `failed`:
 * to be tried again no sooner than `retryInMs`; it is let go. `gave_up`: nothing more is sent.
 */
export type PushProgress =
  | { readonly outcome: "accepted"; readonly seq: number; readonly leaseMs: number }
  | { readonly outcome: "idle" }
  | { readonly outcome: "failed"; readonly retryInMs: number; readonly problem: string }
  | { readonly outcome: "gave_up"; readonly problem: string };

/**
 * Under the task runtime. Every method is one atomic step. Undefined or `missing` means a task that is not there or is
 * somebody else's: the same answer for both. A status that is terminal or interrupted gives the lease back.
 */
export interface Store {
  /** What survives what, in words for the operator. */
  readonly durability: string;
  /** What is to be remembered and is no task. */
  readonly records: Records;
  create(start: NewTask): Promise<Created>;
  append(taskId: string, batch: Batch): Promise<Appended>;
  facts(taskId: string, owner: string): Promise<Maybe<Facts>>;
  /** A message of the caller to a running task: into the history, and into the queue for its next turn. */
  hear(taskId: string, owner: string, message: Envelope): Promise<Heard>;
  /** A new turn of an interrupted task, with the message that begins it: a fresh lease and epoch, a `working` entry. */
  resume(taskId: string, owner: string, message: Envelope, lease: LeaseRequest): Promise<Resumed>;
  /**
   * The holder's turn after `turn`: the message that waits longest. Undefined when none does, or the epoch is stale. Asked
   * once more, because the answer was lost, it gives the same turn.
   */
  nextTurn(taskId: string, epoch: number, turn: number): Promise<Maybe<{ readonly message: Envelope; readonly turned: Turned }>>;
  read(
    taskId: string,
    owner: string,
    after: number,
    limit: number,
  ): Promise<Maybe<{ readonly firstKept: number; readonly entries: readonly Entry[]; readonly closed: boolean }>>;
  /** The task now, or as it was at an earlier entry. Undefined also for an entry that does not exist or is not kept. */
  snapshot(taskId: string, owner: string, at?: number): Promise<Maybe<Snapshot>>;
  /** Tasks are given whole; page size and filters are valid. A token that is none is refused with `invalid_message`. */
  list(owner: string, query: OperationOf<"task.list">): Promise<EventOf<"task.list">>;
  /** Written down before it is told to anyone: the holder also learns of it from its next append or renewal. */
  requestCancel(taskId: string, owner: string): Promise<Maybe<CancelRequested>>;
  /** One answer per hold, in order. */
  renew(holds: readonly Hold[], leaseMs: number): Promise<readonly Appended[]>;
  /** Tasks whose lease ran out, now held by the caller in a fresh epoch. */
  takeOver(lease: LeaseRequest, limit: number): Promise<readonly TakenOver[]>;
  /** The same id replaces: what was told stays told, and failures are forgotten. A new one is told what happens from now on. */
  setPush(owner: string, config: PushConfig): Promise<"stored" | "missing" | "full">;
  /** Secrets and `delivery` included. */
  pushes(taskId: string, owner: string): Promise<Maybe<readonly PushConfig[]>>;
  /** False for a missing task; deleting what is not there is no mistake. */
  deletePush(taskId: string, owner: string, id: string): Promise<boolean>;
  /** Webhooks with entries to be told of that are due and in nobody's hands, now in the caller's. */
  duePushes(lease: LeaseRequest, limit: number): Promise<readonly DuePush[]>;
  /** False when another epoch has it, or it is gone. */
  told(due: DuePush, told: PushProgress): Promise<boolean>;
  /** A hint that something changed, never the data: readers read from their own cursor. */
  wake(taskId: string, run: () => void): () => void;
  /** A hint that a cancel waits for a task of this holder, for stores that several processes share. */
  listen?(holder: string, heard: (taskId: string) => void): () => void;
  close?(): Promise<void>;
}
