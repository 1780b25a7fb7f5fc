/** Limits of the task runtime and its stores. Every limit has a name, a unit and a modest default. */
export interface TaskLimits {
  /** Concurrent runs. Default: 1,000. */
  readonly runningTasks: number;
  /** Concurrent runs of one caller, over all its tenants. Default: 100. */
  readonly runningTasksPerOwner: number;
  /** Concurrent calls that are answered without a task. Default: 10,000. */
  readonly bareReplies: number;
  /** Those of one caller, over all its tenants. Default: 1,000. */
  readonly bareRepliesPerOwner: number;
  /** Agents that were stopped but have not returned: their work still costs something. Default: 1,000. */
  readonly abandonedRuns: number;
  /** Those of one caller, over all its tenants. Default: 100. */
  readonly abandonedRunsPerOwner: number;
  /** Concurrent task lists of one caller, over all its tenants. Default: 8. */
  readonly listsPerOwner: number;
  /** Stored tasks; the oldest finished ones are evicted. Default: 20,000. */
  readonly keptTasks: number;
  /** How long a finished task is kept. */
  readonly keptTasksMs: number;
  /** Total size of all journals in the memory store. */
  readonly keptBytes: number;
  /** Most messages returned for one task, newest first. */
  readonly historyPerTask: number;
  /** Journal entries of one task. Default: 10,000. */
  readonly journalEntries: number;
  /** Journal bytes of one task. Default: 16 MiB. */
  readonly journalBytes: number;
  /** A run with this many unwritten entries waits for the store. */
  readonly entriesPerAppend: number;
  /** Entries per read from the store. */
  readonly entriesPerRead: number;
  /** A durable store writes a snapshot at most this often. */
  readonly entriesPerSnapshot: number;
  /** Queued messages per running task. */
  readonly inputsPerTask: number;
  /** The value an agent saves for its next turn. */
  readonly stateBytes: number;
  /** Length of an idempotency key. Default: 256. */
  readonly idempotencyKeyBytes: number;
  /** How long an idempotency key is remembered. Default: 24 hours. */
  readonly idempotencyKeepMs: number;
  /** Idempotency keys of all owners. Default: 1,000,000. */
  readonly idempotencyKeys: number;
  /** Idempotency keys of one owner. Default: 100,000. */
  readonly idempotencyKeysPerOwner: number;
  /** Webhooks of one task. Default: 8. */
  readonly pushConfigsPerTask: number;
  /** Concurrent push notifications per process. */
  readonly pushesAtOnce: number;
  /** Those of one caller, over all its tenants. Default: 8. */
  readonly pushesAtOncePerOwner: number;
  /** Attempts per entry before delivery to its webhook is abandoned. */
  readonly pushTries: number;
  /** Backoff before the second attempt; doubled each time, up to `pushRetryMaxMs`. */
  readonly pushRetryMs: number;
  /** The longest backoff between attempts. Default: 60 s. */
  readonly pushRetryMaxMs: number;
  /** Timeout of one push notification. */
  readonly pushTimeoutMs: number;
  /** Stored records other than tasks. Default: 100,000. */
  readonly keptRecords: number;
  /** Bytes of one record as JSON. Default: 256 KiB. */
  readonly recordBytes: number;
  /** Bytes of all records, including their names. Default: 256 MiB. */
  readonly keptRecordBytes: number;
  /** The largest page of a task list. Default: 100. */
  readonly pageSize: number;
  /** The page size where the caller gives none. Default: 50. */
  readonly defaultPageSize: number;
  /** Length of a page cursor. Default: 256. */
  readonly cursorBytes: number;
  /** Lifetime of a process's lease on a task. Default: 10 s. */
  readonly leaseMs: number;
  /** How often a lease is renewed. Default: 3 s. */
  readonly renewEveryMs: number;
  /** Orphaned tasks taken over in one step. */
  readonly takeOversAtOnce: number;
  /** Polling interval of readers of a shared store. */
  readonly lookAgainMs: number;
  /** How long a run waits for an unavailable store before it abandons its lease. */
  readonly storeAwayMs: number;
  /** How long a cancel waits for a holder in another process. */
  readonly cancelGraceMs: number;
}

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

/** The default limits. */
export const DEFAULT_TASK_LIMITS: TaskLimits = Object.freeze({
  runningTasks: 1_000,
  runningTasksPerOwner: 100,
  bareReplies: 10_000,
  bareRepliesPerOwner: 1_000,
  abandonedRuns: 1_000,
  abandonedRunsPerOwner: 100,
  listsPerOwner: 8,
  keptTasks: 20_000,
  keptTasksMs: HOUR_MS,
  keptBytes: 256 * MIB,
  historyPerTask: 1_000,
  journalEntries: 10_000,
  journalBytes: 16 * MIB,
  entriesPerAppend: 64,
  entriesPerRead: 256,
  entriesPerSnapshot: 64,
  inputsPerTask: 16,
  stateBytes: MIB,
  idempotencyKeyBytes: 256,
  idempotencyKeepMs: 24 * HOUR_MS,
  idempotencyKeys: 1_000_000,
  idempotencyKeysPerOwner: 100_000,
  pushConfigsPerTask: 8,
  pushesAtOnce: 32,
  pushesAtOncePerOwner: 8,
  pushTries: 8,
  pushRetryMs: 1_000,
  pushRetryMaxMs: 60_000,
  pushTimeoutMs: 15_000,
  keptRecords: 100_000,
  recordBytes: 256 * 1024,
  keptRecordBytes: 256 * MIB,
  pageSize: 100,
  defaultPageSize: 50,
  cursorBytes: 256,
  leaseMs: 10_000,
  renewEveryMs: 3_000,
  takeOversAtOnce: 100,
  lookAgainMs: 2_000,
  storeAwayMs: 8_000,
  cancelGraceMs: 5_000,
});

/** The defaults, overridden by the given limits. */
export function taskLimits(given: Partial<TaskLimits> = {}): TaskLimits {
  return { ...DEFAULT_TASK_LIMITS, ...given };
}
