/** What happened: hooks, metrics and spans around calls. */
export type { Edge } from "./edge.js";
export {
  type BackoffNote,
  combineHooks,
  type DecodeNote,
  type EncodedNote,
  type EncodeNote,
  type ErrorNote,
  type HookErrorSink,
  type HookName,
  type Hooks,
  type Noted,
  type RetryNote,
  type StreamEventNote,
  type TransportedNote,
  type TransportNote,
} from "./hooks.js";
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
export { PROMETHEUS_CONTENT_TYPE, prometheusText } from "./prometheus.js";
export { createTelemetry, noTelemetry, type Telemetry, type TelemetryOptions } from "./telemetry.js";
export { carryTrace, outgoingTraceparent } from "./traceparent.js";
export { createTracing, type Tracing, type TracingOptions } from "./tracing.js";
