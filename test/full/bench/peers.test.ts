import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type IdentityUse, readEvents, runBench, verifyFolder } from "../../../bench/protocols/index.js";
import { protocols } from "../../../src/public/protocols.js";
import { options, PROCESSES, testPlan, withFolder } from "../../bench/stage.js";
import { compiled } from "../../programs.js";

const LONG = 300_000;
const FILES = { ...PROCESSES, agent: compiled("test/bench/processes/relaying.ts") };

function identitiesOf(id: string): IdentityUse {
  const protocol = protocols.find((each) => each.id === id);
  if (protocol?.needsIdentity === true) return "always";
  return protocol?.usesIdentity === true ? "also" : "never";
}

describe("agents that call each other", { timeout: LONG, concurrent: false }, () => {
  it("do so over every protocol, through a proxy per edge, and are recorded on both sides", () =>
    withFolder(async (folder) => {
      const plan = testPlan({
        protocols: protocols.map(({ id }) => id),
        identitiesOf,
        controls: false,
        settings: { agents: 3, requests: 3, topology: "mesh", behaviour: "relay" },
      });
      const result = await runBench(options(folder, plan, { files: FILES }));
      expect(result.runs.map(({ status, reason, invalid }) => ({ status, reason, invalid }))).toEqual(
        plan.runs.map(() => ({ status: "complete", reason: null, invalid: [] })),
      );
      expect(result.checks).toMatchObject({ witness: { passed: true }, fairness: { passed: true }, replay: { passed: true } });
      const { events } = await readEvents(join(folder, "result", "events.ndjson"));
      for (const { run, edges } of result.runs) {
        const sent = events.filter((event) => event.type === "peer-request" && event.run === run);
        // Requests go to the three agents in turn: from the first it passes two edges, from the second one, from the third none.
        expect(
          sent.map((event) => event.type === "peer-request" && `${event.seq} ${event.from}>${event.to} ${event.outcome}`).sort(),
        ).toEqual(["0 agent-1>agent-2 answered", "1 agent-2>agent-3 answered", "undefined agent-2>agent-3 answered"]);
        const arrived = events.filter((event) => event.type === "peer-service" && event.run === run);
        expect(arrived.map((event) => event.type === "peer-service" && event.agent).sort()).toEqual([
          "agent-2",
          "agent-3",
          "agent-3",
        ]);
        expect(events.filter((event) => event.type === "note" && event.run === run && event.kind === "relayed")).toHaveLength(3);
        const used = edges.filter(({ sent, received }) => sent > 0 && received > 0).map(({ edge }) => edge);
        expect(used.sort()).toEqual(["agent-1>agent-2", "agent-2>agent-3", "caller>agent-1", "caller>agent-2", "caller>agent-3"]);
        expect(edges).toHaveLength(9);
      }
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
      expect(() => readFileSync(join(folder, "result", "state"))).toThrow("ENOENT");
    }));

  it("answer what happened when a peer is gone, and the run is still one over the wire", () =>
    withFolder(async (folder) => {
      const plan = testPlan({
        controls: false,
        settings: { agents: 2, requests: 8, measureMs: 6_000, topology: "mesh", behaviour: "relay" },
        faults: [{ name: "kill", planned: [{ kind: "kill", target: "agent-2", atMs: 200, forMs: 1_500 }] }],
      });
      const result = await runBench(options(folder, plan, { files: FILES }));
      expect(result.runs.map(({ status, invalid }) => ({ status, invalid }))).toEqual(
        plan.runs.map(() => ({ status: "complete", invalid: [] })),
      );
      const { events } = await readEvents(join(folder, "result", "events.ndjson"));
      const outcomes = events.flatMap((event) => (event.type === "peer-request" ? [event.outcome] : []));
      expect(outcomes).toContain("failed");
      expect(outcomes).toContain("answered");
    }));
});
