/** The safety scenario: probes of every protocol in its minimal and its recommended deployment, with evidence. */
export { isSafetyFolder, readSafetyResult } from "./folder.js";
export { planSafety } from "./plan.js";
export { PAPER, PROBE_CONFIG, PROBES, type ProbeConfig, type ProbeName, QUICK } from "./probe-config.js";
export { renderSafety } from "./report/report.js";
export type { SafetyResult } from "./result/result.js";
export { runSafety, type SafetyOptions, type SafetyProgress } from "./run.js";
export { verifySafetyFolder } from "./verify.js";
