import { AgentError, type Call, type Handler, type IdSource, type Maybe, type Operation, type Reply } from "../envelope/index.js";
import { type TaskLimits, taskLimits } from "./limits.js";
import { deletePush, getPush, listPush, setPush } from "./push-configs.js";
import type { PushPort } from "./push-port.js";
import { rethrowOurs } from "./refusals.js";
import { type FetchPart, type RuntimeAgent, RuntimeContext } from "./runtime-context.js";
import { send } from "./send.js";
import type { Store } from "./store.js";
import { heedCancel, renewAll, settleAllLost } from "./sweep.js";
import { cancelTask, getTask, listTasks, subscribe } from "./task-operations.js";
import { platformTimers, type Timers } from "./timers.js";

/** What a runtime is made of. */
export interface RuntimeOptions {
  /** By name; a call that names none means the first. */
  readonly agents: ReadonlyMap<string, RuntimeAgent>;
  readonly store: Store;
  readonly ids: IdSource;
  readonly limits?: Maybe<Partial<TaskLimits>>;
  /** Without it every push operation is refused. */
  readonly push?: Maybe<PushPort>;
  /** Without it agents cannot follow links in messages. */
  readonly fetchPart?: Maybe<FetchPart>;
  readonly timers?: Maybe<Timers>;
  /** From 0 to 1; spreads retries. Default: the platform's. */
  readonly random?: Maybe<() => number>;
}

/** How much is under way. */
export interface RuntimeStats {
  readonly runningTasks: number;
  readonly bareReplies: number;
  readonly openStreams: number;
  /** Agents that were told to stop and have not. */
  readonly abandonedRuns: number;
}

/** Agents as one handler, with identity, state, history, ownership and a journal for what they do. */
export interface Runtime {
  readonly handler: Handler;
  /** Refuses new work, waits for what is under way, then stops it. */
  close(drainMs: number): Promise<void>;
  stats(): RuntimeStats;
}

/** Puts agents to work over a store. */
export function createRuntime(options: RuntimeOptions): Runtime {
  const { agents, store, ids, push, fetchPart, timers = platformTimers, random = Math.random } = options;
  const place = new RuntimeContext({ agents, store, ids, push, fetchPart, timers, random, limits: taskLimits(options.limits) });
  const stopSweeping = sweepEvery(place);
  const stopListening = store.listen?.(place.holder, (taskId) => void heedCancel(place, taskId).catch(() => undefined));
  let closed: Promise<void> | undefined;
  return {
    handler: (operation, call) => handle(place, operation, call),
    close: (drainMs) => {
      closed ??= closeDown(place, drainMs).finally(() => {
        stopSweeping();
        stopListening?.();
      });
      return closed;
    },
    stats: () => ({
      runningTasks: place.running,
      bareReplies: place.replies.size,
      openStreams: place.readers.size,
      abandonedRuns: place.abandoned,
    }),
  };
}

function handle(place: RuntimeContext, operation: Operation, call: Call): Reply {
  switch (operation.kind) {
    case "send":
      return send(place, operation, call);
    case "task.get":
      return getTask(place, operation, call).catch(rethrowOurs);
    case "task.list":
      return listTasks(place, operation, call).catch(rethrowOurs);
    case "task.cancel":
      return cancelTask(place, operation, call).catch(rethrowOurs);
    case "task.subscribe":
      return subscribe(place, operation, call);
    case "push.set":
      return setPush(place, operation, call).catch(rethrowOurs);
    case "push.get":
      return getPush(place, operation, call).catch(rethrowOurs);
    case "push.list":
      return listPush(place, operation, call).catch(rethrowOurs);
    case "push.delete":
      return deletePush(place, operation, call).catch(rethrowOurs);
    case "ping":
      return Promise.resolve({ kind: "done" });
    case "session.close":
    case "card":
      return Promise.reject(new AgentError("unsupported_method", `${operation.kind} is not an operation on tasks`));
    default:
      return operation satisfies never;
  }
}

/** One timer for all tasks. Renewing comes first, and never waits for the other: what is held here must not be lost meanwhile. */
function sweepEvery(place: RuntimeContext): () => void {
  const renewing = oneAtATime(() => renewAll(place));
  const settling = oneAtATime(() => settleAllLost(place));
  return place.timers.every(place.limits.renewEveryMs, () => {
    renewing();
    settling();
  });
}

/** Nothing is begun while it is still under way. A store that is away now may be back for the next time. */
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

async function closeDown(place: RuntimeContext, drainMs: number): Promise<void> {
  place.closing = true;
  const drainUntil = place.ids.now() + drainMs;
  if (drainMs > 0) await idleWithin(place, drainMs);
  const reason = new AgentError("unavailable", "the agent is shutting down");
  for (const reply of [...place.replies]) reply.end(reason);
  const stops = [...place.runs.values()].map(async (run) => {
    if (!run.restartable) return run.stop("failed", reason);
    // Whoever takes it over starts it again, and need not wait for the lease to run out.
    run.abandon(reason);
    await place.store.renew([run], 0);
  });
  // A store that is away learns nothing of it; then the leases run out, which is what they are for.
  await Promise.allSettled(stops);
  for (const reader of [...place.readers]) reader.end(reason);
  await place.push?.close(Math.max(0, drainUntil - place.ids.now()));
}

/** Waits until nobody is at work, but not longer than `ms`. */
function idleWithin(place: RuntimeContext, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const tooLate = place.timers.after(ms, resolve);
    place.onIdle(() => {
      tooLate();
      resolve();
    });
  });
}
