/** The task runtime and its stores. */
export {
  type AgentFunction,
  type AgentStream,
  type ArtifactOptions,
  Ending,
  type IncomingMessage,
  isStream,
  Progress,
  Relayed,
  RelayedMessage,
  type Result,
  type TaskContext,
  type UpstreamEvent,
} from "./agent-function.js";
export { DEFAULT_TASK_LIMITS, type TaskLimits } from "./limits.js";
export { InboundMessage } from "./messages.js";
export { byStatusTime, type PageEnd, pageEndOf, pageTokenOf } from "./page-token.js";
export type { PushNotification, PushOutcome, PushPort } from "./push-port.js";
export { createRuntime, type Runtime, type RuntimeOptions, type RuntimeStats } from "./runtime.js";
export type { FetchPart, ForwardedOperation, ReadPart, RuntimeAgent } from "./runtime-context.js";
export type {
  Appended,
  Batch,
  CancelRequested,
  Created,
  DuePush,
  EnqueueResult,
  Entry,
  Facts,
  Hold,
  IdempotencyKey,
  LeaseRequest,
  NewTask,
  PushProgress,
  Refusal,
  Resumed,
  Snapshot,
  Store,
  TakenOver,
  TurnState,
} from "./store.js";
export { createMemoryStore, type MemoryStoreOptions, type MemoryStoreSize } from "./stores/memory.js";
export { openRedisStore, openSqliteStore } from "./stores/open.js";
export type { RedisStoreOptions } from "./stores/redis.js";
export type { SqliteStoreOptions } from "./stores/sqlite.js";
export { platformTimers, type Timers } from "./timers.js";
export { whenTask } from "./turn.js";
