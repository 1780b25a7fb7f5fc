import { afterAll, beforeAll } from "vitest";
import { describeCells } from "./gateway-cells.js";
import { type Fleet, openFleet } from "./gateway-fleet.js";
import { ACP_JS, JS_AGENTS, JS_CLIENTS, type Started, startJsAgents } from "./gateway-js.js";

/** Official JavaScript clients with official JavaScript agents, across protocols, versions and bindings. */

let agents: readonly Started[];
let fleet: Fleet;
beforeAll(async () => {
  agents = await startJsAgents();
  fleet = await openFleet(agents.flatMap((each) => each.agents));
});
afterAll(async () => {
  await fleet?.close();
  await Promise.all((agents ?? []).map(({ server }) => server.close()));
});

describeCells([...JS_CLIENTS, ACP_JS], JS_AGENTS, () => fleet);
