/** Runs a network plan as supervised processes. */
export { systemClock, type UpClock } from "./clock.js";
export type { OutputStream } from "./group-process.js";
export { type LaunchedNetwork, type LaunchOptions, launch } from "./launch.js";
export { UP_LIMITS, type UpLimits } from "./limits.js";
export type { NodeKind, NodeState, NodeStatus } from "./node-status.js";
export { floorLine, floorLinks, type PlanFloorLink } from "./plan-floor.js";
export type { PlanModule } from "./plan-schema.js";
export { type Plan, parsePlan, readPlan } from "./read-plan.js";
export { echoAgent, type ServeOneOptions, serveInterface, serveOne } from "./serve-one.js";
export type { PlannedBridge } from "./wiring.js";
