/** ③ Layers around calls, the same on client, server and gateway. */
export { type Around, around, type Outcome, type Shape } from "./around.js";
export { checkAnswers } from "./check-answers.js";
export { type CircuitBreaker, type CircuitBreakerOptions, type CircuitSnapshot, circuitBreaker } from "./circuit/breaker.js";
export { backgroundClock, type Clock, systemClock } from "./clock.js";
export { deadline } from "./deadline.js";
export { type DeadlinePropagationOptions, deadlinePropagation } from "./deadline-propagation.js";
export type { Destination } from "./destination.js";
export { followTasks } from "./follow-tasks.js";
export { type HedgeOptions, hedge } from "./hedging/hedge.js";
export type { HedgeDelay, HedgeRules } from "./hedging/pair.js";
export { type LimitedSignal, limitedSignal } from "./limited-signal.js";
export { type LinkedCancel, linkedCancel } from "./linked-cancel.js";
export { type LoadBalancer, type LoadBalancerOptions, loadBalancer } from "./load-balancer/load-balancer.js";
export {
  type CircuitState,
  noteFor,
  type PolicyContext,
  type PolicyNote,
  type PolicyNoteKind,
  type PolicySink,
  type QueueName,
} from "./notes.js";
export { limitOpenStreams, type OpenStreamLimits } from "./open-streams.js";
export { type NumberingOptions, numbering } from "./ordering/numbering.js";
export type { OrderedBy } from "./ordering/order-key.js";
export { type OrderingOptions, ordering } from "./ordering/ordering.js";
export { type ReorderOptions, reorder } from "./ordering/reorder.js";
export { SEQUENCE_KEY, type SequenceNumber, sequenceNumberOf } from "./ordering/sequence-number.js";
export { type Bulkhead, type BulkheadOptions, type BulkheadSnapshot, bulkhead } from "./queueing/bulkhead.js";
export { stopIterator } from "./replies/iterators.js";
export { type IterationWatch, watchIterable } from "./replies/watch-iterable.js";
export { type RequestCacheOptions, requestCache } from "./request-cache/request-cache.js";
export { type ResumeOptions, resumeStreams } from "./resume-streams.js";
export { isRetryable, isSafeToRepeat } from "./retry-safety.js";
export { type RetryBudget, type RetryBudgetOptions, retryBudget } from "./retrying/budget.js";
export { type RetryOptions, retry } from "./retrying/retry.js";
export { type ConsistentHashOptions, consistentHash } from "./selection/consistent-hash.js";
export { firstMatch } from "./selection/first-match.js";
export { type LatencyAwareOptions, latencyAware } from "./selection/latency-aware.js";
export type { Choice, Observation, Selector } from "./selection/selector.js";
export { type WeightedOptions, weighted } from "./selection/weighted.js";
export { stack } from "./stack.js";
