/** The safety scenario: probes of every protocol in its minimal and its recommended deployment, with evidence. */
export { isSafetyFolder, readSafetyResult, writeSafetyJudgements } from "./folder.js";
export { judgeAttempts } from "./judge/judge-attempts.js";
export { planSafety } from "./plan.js";
export { PAPER, PROBE_CONFIG, PROBES, type ProbeConfig, type ProbeName, QUICK, withSwitches } from "./probe-config.js";
export { renderSafety } from "./report/report.js";
export type { SafetyResult } from "./result/result.js";
export { runSafety, type SafetyOptions, type SafetyProgress } from "./run.js";
export { readAttempts, verifySafetyFolder } from "./verify.js";
