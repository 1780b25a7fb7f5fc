/** The demo: a harbour whose agents speak different protocols, with one gateway in front of them. */
export { type CheckedItem, checkDemo } from "./check.js";
export { type Demo, type DemoOptions, openDemo } from "./demo.js";
export type { Harbour } from "./plan.js";
export { type AgentRow, agentRows } from "./rows.js";
