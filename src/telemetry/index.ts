/** Hooks, metrics, log lines and spans around calls. */
export type { Edge } from "./edge.js";
export type { Exemplar } from "./exemplars.js";
export {
  type BackoffNote,
  combineHooks,
  type DecodeNote,
  type EncodedNote,
  type EncodeNote,
  type ErrorNote,
  type HookErrorSink,
  type HookName,
  type HookNote,
  type Hooks,
  type RetryNote,
  type StreamEventNote,
  type TransportedNote,
  type TransportNote,
} from "./hooks.js";
export { jsonLines, type LogLine, type LogSink } from "./log-lines.js";
export {
  type Cell,
  type CellFamily,
  createMetrics,
  type EdgeMeter,
  type Family,
  LATENCY_BOUNDS,
  type Metrics,
  type MetricsOptions,
  type Sample,
} from "./metrics.js";
export { OPEN_METRICS_CONTENT_TYPE, openMetricsText, wantsOpenMetrics } from "./open-metrics.js";
export { type PolicyWatchOptions, policyWatch } from "./policy-watch.js";
export { PROMETHEUS_CONTENT_TYPE, prometheusText } from "./prometheus.js";
export { createTelemetry, type MetricsPage, noTelemetry, type Telemetry, type TelemetryOptions } from "./telemetry.js";
export { carryTrace, outgoingTraceparent } from "./traceparent.js";
export { createTracing, type Tracing, type TracingOptions } from "./tracing.js";
