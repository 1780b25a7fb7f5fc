import { beforeAll, describe, expect, test } from "vitest";
import { expectedAt, type Refusals, type Speech } from "./gateway-expected.js";
import type { Fleet, OfficialAgent } from "./gateway-fleet.js";
import type { Cell } from "./gateway-table.js";
import type { OfficialClient, Seen } from "./gateway-walk.js";

export interface ClientUnderTest {
  readonly client: OfficialClient;
  readonly protocol: Speech;
  readonly refusals: Refusals;
}

export type AgentUnderTest = Omit<OfficialAgent, "url"> & { readonly protocol: Speech };

/** For all agents, one after the other. */
const WALK_MS = 180_000;

/** One run for each client, one test for each agent, and the cancellations that the agents received. */
export function describeCells(
  clients: readonly ClientUnderTest[],
  agents: readonly AgentUnderTest[],
  fleet: () => Fleet,
): readonly Cell[] {
  const cells: Cell[] = [];
  describe.each(clients)("$client.name through a gateway", ({ client, protocol, refusals }) => {
    let walked: { readonly [agent: string]: Seen };
    beforeAll(async () => {
      walked = await client.walk(fleet().addresses);
    }, WALK_MS);

    test.each(agents)("to $name", ({ name, protocol: agentProtocol }) => {
      const expected = expectedAt(protocol, agentProtocol, refusals);
      const seen = flaggedOnce(walked[name] ?? {});
      cells.push({ client: client.name, clientProtocol: protocol, agent: name, agentProtocol, seen, expected });
      expect(seen).toEqual(expected);
    });
  });

  // After all walks: a cancel at a gateway must end the work of the agent, not only the gateway's task.
  const canceling = clients.filter(({ protocol }) => protocol !== "agora").length;
  test.each(agents)("every cancel arrived at $name", async ({ name, protocol }) => {
    const state = { a2a: "canceled", acp: "canceling" };
    await expect
      .poll(() => fleet().cancels(name))
      .toEqual(protocol === "agora" ? [] : Array<string>(canceling).fill(state[protocol]));
  });
  return cells;
}

/** A stream reports emulated features on its task and again on the first status; clients show either or both. */
function flaggedOnce(seen: Seen): Seen {
  return Object.fromEntries(
    Object.entries(seen).map(([what, outcome]) => [what, outcome.replace(/(\(emulated: [^)]*\)\|)\1+/g, "$1")]),
  ) as Seen;
}
