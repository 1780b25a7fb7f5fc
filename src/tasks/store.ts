import type {
  Awaitable,
  Envelope,
  EventOf,
  Json,
  Maybe,
  OperationOf,
  PushConfig,
  Records,
  ReplayGuard,
  ReplayLimits,
  State,
  Task,
  TaskEvent,
} from "../envelope/index.js";

/** Holder and duration of a lease. The store's clock decides when it expires. */
export interface LeaseRequest {
  readonly holder: string;
  readonly leaseMs: number;
}

/** An idempotency key of a caller. */
export interface IdempotencyKey {
  readonly key: string;
  /** Digest of the request: the same key with another request is a conflict. */
  readonly digest: string;
  readonly keepMs: number;
}

/** A task to create, with everything stored in the same step. */
export interface NewTask {
  /** The first entry of the journal, at sequence 1. */
  readonly task: Task;
  readonly owner: string;
  readonly agent: string;
  readonly key: Maybe<IdempotencyKey>;
  readonly lease: LeaseRequest;
  /** A webhook that is notified of every entry, including the task itself. */
  readonly push?: Maybe<PushConfig>;
  /**
   * The caller tells nobody of the task before it knows that it is stored, and adds entries through this store: it may answer first, and
   * write the task with its entries. Has no effect with a key or a webhook.
   */
  readonly early?: boolean;
}

/** `repeated`: key and request are known. `expired`: known, but the task is gone. `full`: no capacity, retry later. */
export type Created =
  /** `stored`: answered early. Resolves when the task is stored, or with why it is not; entries are then refused as `closed`. */
  | { readonly made: true; readonly epoch: number; readonly stored?: Promise<Maybe<"full">> }
  | { readonly made: false; readonly because: "repeated"; readonly taskId: string }
  | { readonly made: false; readonly because: "conflict" | "expired" | "full" };

/** One numbered entry of a task's journal. */
export interface Entry {
  readonly seq: number;
  readonly event: TaskEvent;
}

/** Entries written atomically. */
export interface Batch {
  readonly epoch: number;
  /** Sequence number of the last entry known to the writer. */
  readonly after: number;
  readonly events: readonly TaskEvent[];
  /** The JSON value an agent saved for its next turn; undefined leaves the old one. */
  readonly state: Maybe<Json>;
  /** Reject with `queued` while a message is queued. */
  readonly unlessQueued: boolean;
}

/**
 * Why an append was rejected. `fenced`: another epoch holds the task. `sequence`: the writer missed entries. `closed`: the
 * task is terminal. `full`: the journal limit is reached; a single closing status is always accepted. `queued`: a message is queued.
 */
export type Refusal = "fenced" | "sequence" | "closed" | "full" | "queued";
/** The result of appending to a journal. */
export type Appended =
  /** `pushDue`: a webhook has pending entries. */
  | { readonly ok: true; readonly cancelRequested: boolean; readonly pushDue: boolean }
  | { readonly ok: false; readonly because: Refusal };

/** The result of queueing a message. `repeated`: queued before, by its idempotency key. `busy`: the queue is full. `full`: the journal limit is reached. */
export type EnqueueResult = "queued" | "repeated" | "missing" | "closed" | "interrupted" | "busy" | "full";

/** A task at the start of a turn. */
export interface TurnState {
  readonly epoch: number;
  readonly seq: number;
  readonly turn: number;
  readonly task: Task;
  readonly state: Maybe<Json>;
}
/** The result of starting the next turn of a task. */
export type Resumed =
  | ({ readonly ok: true } & TurnState)
  | { readonly ok: false; readonly because: "missing" | "closed" | "running" | "repeated" | "full" };

/** A task and the journal position it includes. */
export interface Snapshot {
  readonly task: Task;
  /** Sequence number of the last included entry, read in the same step. */
  readonly seq: number;
}

/** Task attributes without content. */
export interface Facts {
  readonly agent: string;
  readonly contextId: string;
  readonly state: State;
  readonly seq: number;
  /** The state the agent saved. */
  readonly saved: Maybe<Json>;
}

/** The result of a cancel request. `closed`: already terminal. `canceled`: not running, canceled now. `notified`: its holder was notified. */
export type CancelRequested =
  | { readonly outcome: "closed" | "canceled"; readonly state: State }
  | { readonly outcome: "notified"; readonly holder: string };

/** A lease on a task, as known to its holder. */
export interface Hold {
  readonly taskId: string;
  readonly epoch: number;
}

/** A task whose lease expired, now held by the caller. */
export interface TakenOver extends Hold {
  readonly owner: string;
  readonly agent: string;
  readonly contextId: string;
  readonly seq: number;
  readonly turn: number;
  /** The message of this turn. Others may be queued. */
  readonly message: Envelope;
  readonly state: Maybe<Json>;
  readonly cancelRequested: boolean;
}

/** A webhook with pending entries, leased by a dispatcher. */
export interface DuePush {
  readonly owner: string;
  readonly agent: string;
  /** With `delivery`: entries after its `seq` are to be sent, in order. */
  readonly config: PushConfig;
  /** Increased with every lease: a late dispatcher is rejected. */
  readonly epoch: number;
}

/**
 * `accepted`: delivered up to this entry; the lease is renewed. `idle`: nothing pending; the lease is released. `failed`:
 * retry no sooner than `retryInMs`; the lease is released. `gave_up`: nothing more is sent.
 */
export type PushProgress =
  | { readonly outcome: "accepted"; readonly seq: number; readonly leaseMs: number }
  | { readonly outcome: "idle" }
  | { readonly outcome: "failed"; readonly retryInMs: number; readonly problem: string }
  | { readonly outcome: "gave_up"; readonly problem: string };

/**
 * Storage of the task runtime. Every method is one atomic step; `create`, `append` and `read`, which run for every task or entry, may be done
 * when they return. Undefined or `missing` means a task that does not exist or is another owner's: the same answer for both. A terminal or interrupted status releases the lease.
 */
export interface Store {
  /** Durability guarantees, in one sentence for the operator. */
  readonly durability: string;
  /** The content of tasks is stored encrypted. Absent: it is in clear. */
  readonly sealed?: boolean;
  /** Contents of a sealed store that were refused in this process because somebody changed them. */
  readonly refusedContent?: number;
  /** Records other than tasks. They are in clear. */
  readonly records: Records;
  /** The same records, with values that are sealed if the store is: for the content of messages. Absent: `records`. */
  readonly contentRecords?: Records;
  /** The nonces of signed messages, shared by all users of the store and as durable as it. Absent: nothing outlives the process. */
  replayGuard?(limits: ReplayLimits, now: () => number): ReplayGuard;
  /** Throws if the store does not answer. Absent: it is in this process. */
  ping?(): Promise<void>;
  create(start: NewTask): Awaitable<Created>;
  append(taskId: string, batch: Batch): Awaitable<Appended>;
  facts(taskId: string, owner: string): Promise<Maybe<Facts>>;
  /** Adds a caller's message to the history of a running task and queues it for the next turn. */
  enqueue(taskId: string, owner: string, message: Envelope): Promise<EnqueueResult>;
  /** Begins a new turn of an interrupted task with this message: new lease and epoch, a `working` entry. */
  resume(taskId: string, owner: string, message: Envelope, lease: LeaseRequest): Promise<Resumed>;
  /**
   * The holder's turn after `turn`, with the oldest queued message. Undefined if none is queued or the epoch is stale. Called
   * again because the answer was lost, it returns the same turn.
   */
  nextTurn(
    taskId: string,
    epoch: number,
    turn: number,
  ): Promise<Maybe<{ readonly message: Envelope; readonly turnState: TurnState }>>;
  read(
    taskId: string,
    owner: string,
    after: number,
    limit: number,
  ): Awaitable<Maybe<{ readonly firstKept: number; readonly entries: readonly Entry[]; readonly closed: boolean }>>;
  /** The task now, or at an earlier entry. Undefined also for an entry that does not exist or is no longer stored. */
  snapshot(taskId: string, owner: string, at?: number): Promise<Maybe<Snapshot>>;
  /** Returns whole tasks; page size and filters are already validated. An invalid token throws `invalid_message`. */
  list(owner: string, query: OperationOf<"task.list">): Promise<EventOf<"task.list">>;
  /** Stored before the holder is notified; the holder also sees it in its next append or renewal. */
  requestCancel(taskId: string, owner: string): Promise<Maybe<CancelRequested>>;
  /** One result per hold, in order. */
  renew(holds: readonly Hold[], leaseMs: number): Promise<readonly Appended[]>;
  /** Tasks whose lease expired, now held by the caller in a new epoch. */
  takeOver(lease: LeaseRequest, limit: number): Promise<readonly TakenOver[]>;
  /** The same id replaces: the cursor stays, failures are reset. A new configuration starts at the current entry. */
  setPush(owner: string, config: PushConfig): Promise<"stored" | "missing" | "full">;
  /** Secrets and `delivery` included. */
  pushes(taskId: string, owner: string): Promise<Maybe<readonly PushConfig[]>>;
  /** False for a missing task; deleting a missing configuration succeeds. */
  deletePush(taskId: string, owner: string, id: string): Promise<boolean>;
  /** Due webhooks that are not leased, now leased by the caller. */
  duePushes(lease: LeaseRequest, limit: number): Promise<readonly DuePush[]>;
  /** Records delivery progress. False if another epoch holds the webhook or it was deleted. */
  recordPush(due: DuePush, progress: PushProgress): Promise<boolean>;
  /** Calls `run` when the task may have changed. Carries no data: readers read from their own cursor. */
  wake(taskId: string, run: () => void): () => void;
  /** For shared stores: calls back when a cancel was requested for a task of this holder. */
  listen?(holder: string, onCancel: (taskId: string) => void): () => void;
  close?(): Promise<void>;
}
