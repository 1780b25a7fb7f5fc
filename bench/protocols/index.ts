/** ProtocolBench: scenarios over every protocol, in processes of their own, with results that anybody can compute again. */

export type { EntrySource } from "./entries/entry.js";
export { readEntries } from "./entries/read-entries.js";
export { scheduleFaults } from "./faults/schedule.js";
export { compareResults } from "./folder/compare.js";
export { readEvents, WriteError } from "./folder/events-file.js";
export { FILES, FolderError, readResult } from "./folder/folder.js";
export { inputOf } from "./folder/manifest.js";
export { runBench } from "./folder/report-files.js";
export { type Verification, verifyFolder } from "./folder/verify.js";
export type { BenchOptions, BenchProgress } from "./harness/bench.js";
export { type IdentityUse, makePlan, type OfferedLoad, planArms, planConditions } from "./harness/make-plan.js";
export { PROGRAMS } from "./harness/programs.js";
export { readRecording } from "./models/recording.js";
export type { ModelSettings } from "./models/settings.js";
export { officialPrograms, officialVersions } from "./official/official.js";
export type { BenchResult, Plan, PlannedFault, Settings } from "./result/index.js";
export { edgeTo } from "./result/witness.js";
export * as safety from "./safety/index.js";
export * as scenarios from "./scenarios/index.js";
export type { Scenario } from "./scenarios/scenario.js";
export { renderChanges, renderResult } from "./table.js";
