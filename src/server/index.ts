/** Serves agents: `agent()`, `serve()`, `mount()`, and the push sender. */
export type { AdminAddress, AdminOptions } from "./admin.js";
export { type Agent, type AgentHealth, type AgentOptions, type AgentSkill, agent } from "./agent.js";
export type { HostOptions } from "./assemble.js";
export { type Mounted, type MountOptions, mount } from "./mount.js";
export type { PushOptions } from "./push-sender.js";
export { type ReplaceOptions, type ServeOptions, type Server, serve } from "./serve.js";
