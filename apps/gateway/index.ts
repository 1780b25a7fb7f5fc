/** The gateway: its configuration and the server that runs it. */
export { listenerInterfaces } from "../config/index.js";
export type { Gateway, GatewayDeps, ReloadReport } from "./api.js";
export { type CheckedUpstream, checkGateway } from "./check.js";
export type { AgentConfig, GatewayConfig } from "./config.js";
export { ConfigError, type ConfigProblem, problemText } from "./config-problem.js";
export { CONFIG_SCHEMA, type ConfigDocument } from "./config-schema.js";
export { openGateway } from "./gateway.js";
export type { AgentLosses } from "./losses.js";
export { configFrom, parseConfig, readConfig } from "./read-config.js";
export { configJsonSchema, configReference } from "./schema-document.js";
export type { AgentStatus, UpstreamStatus } from "./status.js";
export { type ConfigRevision, type ConfigWatch, configRevision, watchConfig } from "./watch-config.js";
