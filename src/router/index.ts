/** Selects a protocol for each module of a system, with reasons. */
export { defaultCandidates, featureRow, featureRows } from "../protocols/candidates.js";
export {
  CAPABILITIES,
  type Capability,
  type CapabilityId,
  FACETS,
  type Facet,
  type FeatureClaims,
  type Features,
  type Support,
} from "../protocols/features.js";
export {
  type Bandit,
  type BanditOptions,
  BUDGET_MS,
  contextKey,
  createBandit,
  FADING,
  type Fading,
  type LinkBandit,
  type LinkKind,
  type Outcome,
  type ProblemSink,
} from "./bandit/index.js";
export { DECISION_FIELDS, type Decision, type Rejection } from "./decision.js";
export type { Embedder } from "./embedder.js";
export {
  capabilityNamed,
  type Excluded,
  parseRanking,
  parseScenarioText,
  type ReadScenarios,
  readScenarios,
  rowNamed,
  SCENARIO_FILE_BYTES,
  SCENARIO_SCHEMA,
} from "./forms/index.js";
export { type DecidedBy, feasibleCandidates, type Judgement, judge } from "./judge.js";
export { type LintContext, lintDecision } from "./lint/decision.js";
export { type ModelOpinionOptions, modelOpinion } from "./model/opinion.js";
export type { PromptVariant } from "./model/prompt.js";
export { rankingFromResults, tieBreakWithPrior } from "./priors.js";
export { type Routing, route } from "./route.js";
export type { Module, Passage, PassageKind, Scenario } from "./scenario.js";
export type { OpenQuestion, Opinion, OpinionAnswer, SecondOpinion } from "./second-opinion.js";
export { ABLATIONS, type Ablation, type AbstainPolicy, PRIORITY, type RouterSettings, type Tier } from "./settings.js";
