/** Everything about tasks that can grow, and every wait, has a name, a unit and a modest default. */
export interface TaskLimits {
  readonly runningTasks: number;
  readonly runningTasksPerOwner: number;
  /** Agents that were told to stop and have not: their work still costs something. */
  readonly abandonedRuns: number;
  readonly keptTasks: number;
  /** How long a finished task can still be read. */
  readonly keptTasksMs: number;
  /** Journals of all tasks together, as a store in memory counts them. */
  readonly keptBytes: number;
  /** Messages shown of one task: the newest. */
  readonly historyPerTask: number;
  readonly journalEntries: number;
  readonly journalBytes: number;
  /** A run that has this many unwritten entries waits for the store. */
  readonly entriesPerAppend: number;
  /** Entries one reader takes from the store at once. */
  readonly entriesPerRead: number;
  /** A durable store writes a snapshot at most this often. */
  readonly entriesPerSnapshot: number;
  /** Messages that wait for a running task's next turn. */
  readonly inputsPerTask: number;
  /** The value an agent saves for its next turn. */
  readonly stateBytes: number;
  readonly idempotencyKeyBytes: number;
  readonly idempotencyKeepMs: number;
  readonly idempotencyKeys: number;
  readonly idempotencyKeysPerOwner: number;
  readonly pushConfigsPerTask: number;
  /** Webhooks one process tells at once. */
  readonly pushesAtOnce: number;
  /** Tries of one entry before its webhook is given up. */
  readonly pushTries: number;
  /** Before the second try; doubled each time, up to `pushRetryMaxMs`. */
  readonly pushRetryMs: number;
  readonly pushRetryMaxMs: number;
  /** How long one webhook may take to answer. */
  readonly pushTimeoutMs: number;
  /** What is remembered beside tasks: how many records, how many bytes one may have as JSON, and all with their names together. */
  readonly keptRecords: number;
  readonly recordBytes: number;
  readonly keptRecordBytes: number;
  readonly pageSize: number;
  readonly defaultPageSize: number;
  readonly cursorBytes: number;
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  /** Lost tasks that are taken over in one step. */
  readonly takeOversAtOnce: number;
  /** A reader of a shared store looks again after this time, whether a hint came or not. */
  readonly lookAgainMs: number;
  /** How long a run waits for a store that is away before it gives up its place. */
  readonly storeAwayMs: number;
  /** How long a cancel waits for a holder elsewhere. */
  readonly cancelGraceMs: number;
}

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

/** What holds unless told otherwise. */
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

/** The defaults, with what was given put over them. */
export function taskLimits(given: Partial<TaskLimits> = {}): TaskLimits {
  return { ...DEFAULT_TASK_LIMITS, ...given };
}
