/** Reading the files that users write: agent modules, and documents with source positions. */
export {
  DOCUMENT_BYTES,
  type DocumentError,
  formatPath,
  type LocatedDocument,
  type MemberPath,
  type Position,
  parseLocated,
  parsePath,
  readDocument,
} from "./document.js";
export { listenerInterfaces } from "./listener-interfaces.js";
export { loadAgents } from "./load-agents.js";
export { nearestOf } from "./nearest.js";
export { type LogSettings, openLog } from "./open-log.js";
export { droppedSpans, openTracing } from "./open-tracing.js";
export {
  isClearBeyondLoopback,
  NEEDS,
  type Need,
  type ProfileFacts,
  profileGaps,
  profileLimits,
  RECOMMENDED_LIMITS,
} from "./profile.js";
export { type PlannedCalls, providedSecurity } from "./provided-security.js";
export { settingProblems } from "./settings.js";
export { isTracingWanted, type OpenTracing, type TracingRequest } from "./tracing/settings.js";
