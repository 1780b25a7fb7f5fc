/** What a benchmark writes: events, the result made of them, the manifest. */
export { whyNotJudged } from "./controls.js";
export { BENCH_EVENT, type BenchEvent, type BenchEventOf, type RequestEvent, type ServiceEvent } from "./event.js";
export { MANIFEST, type Manifest, type ManifestInput } from "./manifest.js";
export type { NoteEvent, PeerRequestEvent, PeerServiceEvent } from "./peer-event.js";
export {
  type Arm,
  type Condition,
  type Dispatch,
  type Load,
  type Plan,
  type PlannedFault,
  type PlannedRun,
  SCHEMA_VERSION,
  type Settings,
} from "./plan.js";
export { equalProtection, protectionText } from "./protection.js";
export {
  type ArmSummary,
  type BenchResult,
  type Check,
  type Comparison,
  type Control,
  type Estimate,
  METRICS,
  type Metric,
  type Protection,
  QUANTILES,
  RESULT,
  type RunSummary,
  resultJsonSchema,
  SEGMENTS,
  type Segment,
} from "./result.js";
export { measuredIn } from "./run-events.js";
export { summariseRun } from "./run-summary.js";
export { summarise } from "./summarise.js";
