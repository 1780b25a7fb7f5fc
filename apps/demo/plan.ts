import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { AgentError } from "../../src/index.js";
import { type Decision, parseScenarioText, route } from "../../src/router/index.js";
import { PROGRAM_EXTENSION, packageFile } from "../../src/transport/node/package-file.js";
import { type Plan, parsePlan } from "../up/index.js";
import { type DemoIdentities, LOOPBACK_SETTINGS } from "./identities.js";
import { freePort } from "./ports.js";

const SCENARIO = "scenario.yaml";
const FOLDER = fileURLToPath(packageFile("apps/demo"));

/** Fixed interfaces; the router selects the rest. */
const PINS: { readonly [id: string]: string } = {
  // "Has been answering since last year and nobody wants to touch it."
  berths: "a2a@0.3/JSONRPC",
  pilots: "a2a@1.0/GRPC",
};

/** Agents that prove who they are: each is served under an identity of its own. */
const IDENTIFIED: ReadonlySet<string> = new Set(["customs"]);

/** Calls between agents. */
const CALLS: { readonly [id: string]: readonly string[] } = { pilots: ["rules"], cranes: ["berths"] };

/** The decisions of the router and the resulting plan. */
export interface DemoPlan {
  readonly decisions: readonly Decision[];
  readonly plan: Plan;
  /** The DIDs of the agents that have one. */
  readonly dids: ReadonlyMap<string, string>;
}

/** Routes the scenario and builds the plan. Every module gets its own port, starting at `firstPort`. */
export async function planDemo(firstPort: number, given: Set<number>, identities: DemoIdentities): Promise<DemoPlan> {
  const { scenarios, excluded } = await parseScenarioText(await readFile(`${FOLDER}/${SCENARIO}`, "utf8"), SCENARIO);
  const [scenario] = scenarios;
  if (scenario === undefined || excluded.length > 0) throw new AgentError("invalid_message", `${SCENARIO} is invalid`);
  const { decisions } = await route(scenario);
  const modules: object[] = [];
  const dids = new Map<string, string>();
  for (const { id } of scenario.modules) {
    const port = await freePort(firstPort, given);
    const identity = IDENTIFIED.has(id) ? await identities.create(id, port) : undefined;
    if (identity !== undefined) dids.set(id, identity.did);
    const agent = `./agents/${id}${PROGRAM_EXTENSION}`;
    modules.push({ id, agent, port, neighbours: CALLS[id] ?? [], pin: PINS[id], identity: identity?.file });
  }
  const text = JSON.stringify({ decisions, modules, settings: LOOPBACK_SETTINGS });
  return { decisions, plan: await parsePlan(text, { name: SCENARIO, folder: FOLDER }), dids };
}
