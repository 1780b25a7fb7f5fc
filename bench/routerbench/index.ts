/** ProtocolRouterBench, ours: how often the router is right, against which files, and how anybody can check it. */
export { type Bench, type BenchInputs, runBench } from "./bench.js";
export { type OpenTools, openTools, rankingIn, type ToolOptions } from "./engine.js";
export type { RunTools } from "./entry.js";
export { checkFolder, manifestOf, type Texts, textsOf, writeFolder } from "./folder.js";
export { ownCorpus, readInput, readInputs } from "./inputs.js";
export type { Metrics } from "./metrics.js";
export type { Outcome } from "./outcome.js";
export { type BenchSettings, DEFAULT_RANKING, MODES, type Mode } from "./plan.js";
export type { Report } from "./report.js";
export { formatSections } from "./table.js";
export { sectionsOf } from "./tables.js";
export { type Difference, type Verification, verifyFolder } from "./verify.js";
