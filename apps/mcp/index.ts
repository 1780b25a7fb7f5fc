/** Serves agents of every protocol as MCP tools. */
export type { AgentSource } from "./cached-agent.js";
export { type McpOptions, serveMcp } from "./serve-mcp.js";
