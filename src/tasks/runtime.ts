import { AgentError, type Call, type Handler, type IdSource, type Maybe, type Operation, type Reply } from "../envelope/index.js";
import { type TaskLimits, taskLimits } from "./limits.js";
import { deletePush, getPush, listPush, setPush } from "./push-configs.js";
import type { PushPort } from "./push-port.js";
import { rethrowAsAgentError } from "./refusals.js";
import { type FetchPart, type ReadPart, type RuntimeAgent, RuntimeContext } from "./runtime-context.js";
import { send } from "./send.js";
import type { Store } from "./store.js";
import { checkCancel, renewAll, settleAllLost } from "./sweep.js";
import { cancelTask, getTask, listTasks, subscribe } from "./task-operations.js";
import { platformTimers, type Timers } from "./timers.js";

/** Options of `createRuntime`. */
export interface RuntimeOptions {
  /** By name; the first one is the default. */
  readonly agents: ReadonlyMap<string, RuntimeAgent>;
  /** Where tasks are stored. */
  readonly store: Store;
  /** The id source. */
  readonly ids: IdSource;
  /** Overrides of the default limits (`DEFAULT_TASK_LIMITS`). */
  readonly limits?: Maybe<Partial<TaskLimits>>;
  /** Without it every push operation is rejected. */
  readonly push?: Maybe<PushPort>;
  /** Without it agents cannot fetch URL parts. */
  readonly fetchPart?: Maybe<FetchPart>;
  /** Without it agents cannot read URL parts as streams. */
  readonly readPart?: Maybe<ReadPart>;
  /** Replaces the system timers, for tests. */
  readonly timers?: Maybe<Timers>;
  /** From 0 to 1; retry jitter. Default: `Math.random`. */
  readonly random?: Maybe<() => number>;
}

/** Current load of a runtime. */
export interface RuntimeStats {
  readonly runningTasks: number;
  readonly bareReplies: number;
  readonly openStreams: number;
  /** Agents that were stopped and have not returned. */
  readonly abandonedRuns: number;
}

/** Agents as one handler, with task identity, state, history, ownership and a journal. */
export interface Runtime {
  readonly handler: Handler;
  /** Rejects new work, waits up to `drainMs` for active work, then stops it. */
  close(drainMs: number): Promise<void>;
  stats(): RuntimeStats;
}

/** Runs agents on a store. */
export function createRuntime(options: RuntimeOptions): Runtime {
  const { agents, store, ids, push, fetchPart, readPart, timers = platformTimers, random = Math.random } = options;
  const limits = taskLimits(options.limits);
  const context = new RuntimeContext({ agents, store, ids, push, fetchPart, readPart, timers, random, limits });
  const stopSweeping = sweepEvery(context);
  const stopListening = store.listen?.(context.holder, (taskId) => void checkCancel(context, taskId).catch(() => undefined));
  let closed: Promise<void> | undefined;
  return {
    handler: (operation, call) => handle(context, operation, call),
    close: (drainMs) => {
      closed ??= closeDown(context, drainMs).finally(() => {
        stopSweeping();
        stopListening?.();
      });
      return closed;
    },
    stats: () => ({
      runningTasks: context.running,
      bareReplies: context.replies.length,
      openStreams: context.readers.all.length,
      abandonedRuns: context.abandoned.total,
    }),
  };
}

function handle(context: RuntimeContext, operation: Operation, call: Call): Reply {
  switch (operation.kind) {
    case "send":
      return send(context, operation, call);
    case "task.get":
      return getTask(context, operation, call).catch(rethrowAsAgentError);
    case "task.list":
      return listTasks(context, operation, call).catch(rethrowAsAgentError);
    case "task.cancel":
      return cancelTask(context, operation, call).catch(rethrowAsAgentError);
    case "task.subscribe":
      return subscribe(context, operation, call);
    case "push.set":
      return setPush(context, operation, call).catch(rethrowAsAgentError);
    case "push.get":
      return getPush(context, operation, call).catch(rethrowAsAgentError);
    case "push.list":
      return listPush(context, operation, call).catch(rethrowAsAgentError);
    case "push.delete":
      return deletePush(context, operation, call).catch(rethrowAsAgentError);
    case "ping":
      return Promise.resolve({ kind: "done" });
    case "session.close":
    case "card":
      return Promise.reject(new AgentError("unsupported_method", `${operation.kind} is not an operation on tasks`));
    default:
      return operation satisfies never;
  }
}

/**
 * One timer for all tasks. Renewal never waits for take-over, so that held leases do not expire. Take-over waits for renewal, and after a
 * blocked event loop for the next time: leases of other holders expired meanwhile, and they must be able to renew them first.
 */
function sweepEvery(context: RuntimeContext): () => void {
  const { renewEveryMs } = context.limits;
  const settling = oneAtATime(() => settleAllLost(context));
  let blocked = false;
  const renewing = oneAtATime(async () => {
    await renewAll(context);
    if (!blocked) settling();
  });
  return context.timers.every(renewEveryMs, (lateMs) => {
    blocked = lateMs >= renewEveryMs;
    renewing();
  });
}

/** Skips a run while the previous one is active. Failures are ignored: the next run retries. */
function oneAtATime(work: () => Promise<void>): () => void {
  let busy = false;
  const done = () => {
    busy = false;
  };
  return () => {
    if (busy) return;
    busy = true;
    work().then(done, done);
  };
}

/** What readers get to read the last events, even if the agents took all of the drain time. */
const LAST_READS_MS = 1_000;

async function closeDown(context: RuntimeContext, drainMs: number): Promise<void> {
  context.closing = true;
  const drainUntil = context.ids.now() + drainMs;
  if (drainMs > 0) await idleWithin(context, drainMs);
  const reason = new AgentError("unavailable", "the agent is shutting down");
  for (const reply of [...context.replies]) reply.end(reason);
  const stops = context.runs.all.map(async (run) => {
    if (!run.restartable) return run.stop("failed", reason);
    // Releases the lease, so that another process can restart the run at once.
    run.abandon(reason);
    await context.store.renew([run], 0);
  });
  // If the store is unavailable, the leases expire.
  await Promise.allSettled(stops);
  await finishReaders(context, reason, Math.max(LAST_READS_MS, drainUntil - context.ids.now()));
  await context.push?.close(Math.max(0, drainUntil - context.ids.now()));
}

/** Delivers what is in the journals, the last events included. Readers that take longer than `ms` are cut off. */
async function finishReaders(context: RuntimeContext, reason: AgentError, ms: number): Promise<void> {
  const readers = [...context.readers.all];
  const cutOff = context.timers.after(ms, () => {
    for (const reader of readers) reader.end(reason);
  });
  await Promise.all(readers.map((reader) => reader.finish(reason)));
  cutOff();
}

/** Waits until the runtime is idle, at most `ms`. */
function idleWithin(context: RuntimeContext, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const tooLate = context.timers.after(ms, resolve);
    context.onIdle(() => {
      tooLate();
      resolve();
    });
  });
}
