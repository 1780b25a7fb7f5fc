/** Limits of the task runtime and its stores. Every limit has a name, a unit and a modest default. */
export interface TaskLimits {
  readonly runningTasks: number;
  readonly runningTasksPerOwner: number;
  /** Agents that were stopped but have not returned: their work still costs something. */
  readonly abandonedRuns: number;
  readonly keptTasks: number;
  /** How long a finished task is kept. */
  readonly keptTasksMs: number;
  /** Total size of all journals in the memory store. */
  readonly keptBytes: number;
  /** Most messages returned for one task, newest first. */
  readonly historyPerTask: number;
  readonly journalEntries: number;
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
  readonly idempotencyKeyBytes: number;
  readonly idempotencyKeepMs: number;
  readonly idempotencyKeys: number;
  readonly idempotencyKeysPerOwner: number;
  readonly pushConfigsPerTask: number;
  /** Concurrent push notifications per process. */
  readonly pushesAtOnce: number;
  /** Attempts per entry before delivery to its webhook is abandoned. */
  readonly pushTries: number;
  /** Backoff before the second attempt; doubled each time, up to `pushRetryMaxMs`. */
  readonly pushRetryMs: number;
  readonly pushRetryMaxMs: number;
  /** Timeout of one push notification. */
  readonly pushTimeoutMs: number;
  /** Records other than tasks: their number, bytes per record as JSON, and total bytes including names. */
  readonly keptRecords: number;
  readonly recordBytes: number;
  readonly keptRecordBytes: number;
  readonly pageSize: number;
  readonly defaultPageSize: number;
  readonly cursorBytes: number;
  readonly leaseMs: number;
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
  abandonedRuns: 1_000,
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
