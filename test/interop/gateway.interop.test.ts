import { afterAll, beforeAll, describe } from "vitest";
import { type AgentUnderTest, type ClientUnderTest, describeCells } from "../peers/gateway-cells.js";
import type { Refusals } from "../peers/gateway-expected.js";
import { type Fleet, openFleet, SERVED_AS } from "../peers/gateway-fleet.js";
import { ACP_JS, agentOf, JS_AGENTS, JS_CLIENTS, type Started, started, startJsAgents } from "../peers/gateway-js.js";
import { type Cell, writeTable } from "../peers/gateway-table.js";
import type { OfficialClient, Seen } from "../peers/gateway-walk.js";
import { type Environment, pythonFor, runScript, type Script, startPython } from "./python.js";

/**
 * Every official client with every official agent, in either language, through a gateway: each agent is started once, and each
 * client calls them in turn. The results form a table.
 */

const TABLE = ".cache/gateway-peers.md";
const START_MS = 120_000;
const ENVIRONMENTS: readonly Environment[] = ["a2a-0.3.3", "a2a-1.3.0", "acp-1.0.3", "agora-0.2.0"];

const NEW = ["JSONRPC", "HTTP+JSON", "GRPC"].map((binding) => agentOf("A2A Python 1.3.0", "1.0", binding));
const OLD = ["JSONRPC", "HTTP+JSON"].map((binding) => agentOf("A2A Python 0.3.3", "0.3", binding));
const ACP: AgentUnderTest = { name: "ACP Python 1.0.3", pin: "acp", protocol: "acp" };
const AGORA: AgentUnderTest = { name: "Agora Python 0.2.0", pin: "agora", protocol: "agora" };

const CLASSES: Refusals = { unknown: "TaskNotFoundError", noAnswer: "InvalidAgentResponseError" };
// JSON-RPC codes of A2A 0.3 §8.2; for REST the HTTP status, which is all that this client reads.
const CODES: Refusals = { unknown: "-32001", noAnswer: "-32006" };
const STATUSES: Refusals = { unknown: "404", noAnswer: "502" };

const NEW_CLIENT: Script = { environment: "a2a-1.3.0", file: "gateway_a2a_10" };
const OLD_CLIENT: Script = { environment: "a2a-0.3.3", file: "gateway_a2a_03" };
const ACP_CLIENT: Script = { environment: "acp-1.0.3", file: "gateway_acp" };
const AGORA_CLIENT: Script = { environment: "agora-0.2.0", file: "gateway_agora" };

const CLIENTS: readonly ClientUnderTest[] = [
  ...JS_CLIENTS,
  ...["JSONRPC", "HTTP+JSON", "GRPC"].map(
    (binding): ClientUnderTest => ({
      client: walking(`A2A Python 1.3.0 ${binding}`, NEW_CLIENT, binding),
      protocol: "a2a",
      refusals: CLASSES,
    }),
  ),
  { client: walking("A2A Python 0.3.3 JSONRPC", OLD_CLIENT, "JSONRPC"), protocol: "a2a", refusals: CODES },
  { client: walking("A2A Python 0.3.3 HTTP+JSON", OLD_CLIENT, "HTTP+JSON"), protocol: "a2a", refusals: STATUSES },
  ACP_JS,
  { client: walking("ACP Python 1.0.3", ACP_CLIENT, SERVED_AS), protocol: "acp", refusals: ACP_JS.refusals },
  { client: walking("Agora Python 0.2.0", AGORA_CLIENT), protocol: "agora", refusals: CLASSES },
];

/** A client in Python: its script prints one object of results per agent. */
function walking(name: string, script: Script, ...args: readonly string[]): OfficialClient {
  return {
    name,
    // Written by our own script.
    walk: async (agents) => (await runScript(script, JSON.stringify(agents), ...args)) as { readonly [agent: string]: Seen },
  };
}

function startPythonAgents(): Promise<readonly Started[]> {
  return Promise.all([
    started(startPython({ environment: "a2a-1.3.0", file: "server_10" }), NEW),
    started(startPython({ environment: "a2a-0.3.3", file: "server_03" }), OLD),
    started(startPython({ environment: "acp-1.0.3", file: "acp_server" }), [ACP]),
    started(startPython({ environment: "agora-0.2.0", file: "gateway_agora_receiver" }), [AGORA]),
  ]);
}

describe.skipIf(ENVIRONMENTS.some((each) => pythonFor(each) === undefined))("official clients and official agents", () => {
  let agents: readonly Started[];
  let fleet: Fleet;
  let cells: readonly Cell[] = [];
  beforeAll(async () => {
    agents = (await Promise.all([startJsAgents(), startPythonAgents()])).flat();
    fleet = await openFleet(agents.flatMap((each) => each.agents));
  }, START_MS);
  afterAll(async () => {
    await fleet?.close();
    await Promise.all((agents ?? []).map(({ server }) => server.close()));
    await writeTable(TABLE, cells);
  });

  cells = describeCells(CLIENTS, [...JS_AGENTS, ...NEW, ...OLD, ACP, AGORA], () => fleet);
});
