/** What the front door of the package shows of the router: nothing that loads its weights before a scenario is routed. */
export type { Decision } from "./decision.js";
export { parseScenarioText, type ReadScenarios, readScenarios } from "./forms/index.js";
export { type Routing, route } from "./route.js";
export type { Module, Scenario } from "./scenario.js";
export { ABLATIONS, PRIORITY, type RouterSettings } from "./settings.js";
