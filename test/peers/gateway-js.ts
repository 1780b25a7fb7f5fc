import type { AgentUnderTest, ClientUnderTest } from "./gateway-cells.js";
import { client03 } from "./gateway-client-0.3.js";
import { client13 } from "./gateway-client-1.3.js";
import { clientAcp } from "./gateway-client-acp.js";
import { type OfficialAgent, SERVED_AS } from "./gateway-fleet.js";
import type { OfficialServer } from "./official.js";
import { startOfficial03 } from "./official-0.3.js";
import { startOfficial13 } from "./official-1.3.js";
import { startOfficialGrpc } from "./official-1.3-grpc.js";

// The classes that both generations of the library export for JSON-RPC codes -32001 and -32006.
const CLASSES = { unknown: "TaskNotFoundError", noAnswer: "InvalidAgentResponseError" };

/** Every client of an official library for JavaScript. */
export const JS_CLIENTS: readonly ClientUnderTest[] = [
  ...(["JSONRPC", "HTTP+JSON", "GRPC"] as const).map(client13),
  ...(["JSONRPC", "HTTP+JSON"] as const).map(client03),
].map((client) => ({ client, protocol: "a2a" as const, refusals: CLASSES }));

export const ACP_JS: ClientUnderTest = {
  client: clientAcp(SERVED_AS),
  protocol: "acp",
  refusals: { unknown: "not_found", noAnswer: "server_error" },
};

const NEW = ["JSONRPC", "HTTP+JSON"].map((binding) => agentOf("A2A JS 1.3.0", "1.0", binding));
const NEW_GRPC = [agentOf("A2A JS 1.3.0", "1.0", "GRPC")];
const OLD = ["JSONRPC", "HTTP+JSON"].map((binding) => agentOf("A2A JS 0.3.14", "0.3", binding));

/** Every agent of an official library for JavaScript. */
export const JS_AGENTS: readonly AgentUnderTest[] = [...NEW, ...NEW_GRPC, ...OLD];

export function agentOf(library: string, version: string, binding: string): AgentUnderTest {
  return { name: `${library} ${binding}`, pin: `a2a@${version}/${binding}`, protocol: "a2a" };
}

/** A server that has been started, and the agents that are found there. */
export interface Started {
  readonly server: OfficialServer;
  readonly agents: readonly OfficialAgent[];
}

export function startJsAgents(): Promise<readonly Started[]> {
  return Promise.all([started(startOfficial13(), NEW), started(startOfficialGrpc(), NEW_GRPC), started(startOfficial03(), OLD)]);
}

export async function started(starting: Promise<OfficialServer>, agents: readonly AgentUnderTest[]): Promise<Started> {
  const server = await starting;
  return { server, agents: agents.map(({ name, pin }) => ({ name, pin, url: server.url })) };
}
