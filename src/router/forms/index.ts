/** Scenario files: four forms in, one shape out. */
export { SCENARIO_FILE_BYTES } from "./limits.js";
export { SCENARIO_SCHEMA } from "./own-schema.js";
export { capabilityNamed, rowNamed } from "./protocol-names.js";
export { parseRanking } from "./ranking.js";
export { type Excluded, parseScenarioText, type ReadOptions, type ReadScenarios, readScenarios } from "./read-scenarios.js";
