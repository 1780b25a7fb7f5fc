/** Conformance as data: requirements that run against any URL, and the agent, servers and tables they need. */

export {
  CONFORMANCE_AREAS,
  type ConformanceArea,
  type Delivery,
  type Hook,
  type Requirement,
  type Skipped,
  type Subject,
} from "../src/protocols/requirement.js";
export { conformanceAgent, conformanceSkill } from "./agent.js";
export {
  type ClientCheckOptions,
  type ClientCheckResult,
  checkClient,
  checkFault,
  type Expectation,
  expectations,
} from "./client-faults.js";
export { contractRequirements } from "./contract.js";
export type { ContractRequirement } from "./contract-requirement.js";
export { faults } from "./faults.js";
export { type Cell, formatDetails, formatGrid, formatGridMarkdown, type Grid, toGrid } from "./grid.js";
export { httpExchange, secureExchange } from "./http-exchange.js";
export { identifiedCaller } from "./identified-caller.js";
export { a2aJs0314Gaps } from "./known-gaps/a2a-js-0.3.14.js";
export { a2aJs130Gaps } from "./known-gaps/a2a-js-1.3.0.js";
export { acpSdk103Gaps } from "./known-gaps/acp-sdk-1.0.3.js";
export { agoraProtocol020Gaps } from "./known-gaps/agora-protocol-0.2.0.js";
export { anp107FastAnpGaps, anp107OpenAnpGaps } from "./known-gaps/anp-1.0.7.js";
export { type LoadReport, runLoad } from "./load.js";
export { type Fault, type MisbehavingServer, startMisbehaving } from "./misbehaving-server.js";
export { sessionOpener } from "./open-session.js";
export { type KnownGaps, type Outcome, type Report, type RequirementResult, type RunOptions, runConformance } from "./run.js";
export {
  type BridgeEnd,
  type Broken,
  formatThrough,
  runThrough,
  type Stage,
  type ThroughOptions,
  type ThroughReport,
} from "./through.js";
