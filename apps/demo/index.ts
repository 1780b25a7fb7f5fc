/** The demo: agents of a harbour with different protocols, served by one gateway. */
export { type CheckedItem, checkDemo } from "./check.js";
export { type Demo, type DemoOptions, openDemo } from "./demo.js";
export type { DemoPlan } from "./plan.js";
export { type AgentRow, agentRows } from "./rows.js";
