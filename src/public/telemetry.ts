/** Metrics, hooks, log lines and traces around calls. */
export {
  createMetrics,
  createTelemetry,
  type Exemplar,
  type Hooks,
  jsonLines,
  type LogLine,
  type LogSink,
  type Metrics,
  type MetricsPage,
  noTelemetry,
  OPEN_METRICS_CONTENT_TYPE,
  openMetricsText,
  type PolicyWatchOptions,
  policyWatch,
  type Telemetry,
  wantsOpenMetrics,
} from "../telemetry/index.js";
