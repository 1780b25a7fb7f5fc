import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type BenchResult,
  makePlan,
  type Plan,
  planArms,
  planConditions,
  planStorm,
  runBench,
  type ShardData,
  type StormChoice,
  scenarios,
  verifyFolder,
} from "../../../bench/protocols/index.js";
import { protocols } from "../../../src/public/protocols.js";
import { options, SETTINGS, withFolder } from "../../bench/stage.js";

const LONG = 600_000;
const AGENTS = 4;
/** 16 groups of eight texts, dealt to four agents. */
const SHARD = (16 * 8) / AGENTS;
/** No silence decides here, however busy the machine is: only broken connections do. */
const DATA: ShardData = { source: { kind: "generated", groups: 16, seed: 5 }, heartbeatMs: 100, deadAfterMs: 20_000 };

/** A ring of four with one victim, as fast as the machine is. */
function stormPlan(kind: StormChoice["kind"], ids: readonly string[], recoveries: StormChoice["recoveries"]): Plan {
  const scenario = scenarios.failStorm;
  const settings = {
    ...SETTINGS,
    agents: AGENTS,
    measureMs: 3_000,
    requests: 1_000_000,
    payloadBytes: 0,
    retries: AGENTS - 1,
    attemptTimeoutMs: 8_000,
    dispatch: "ring",
    topology: "mesh",
    behaviour: "shard-ring",
  } as const;
  const loads = planConditions({ clients: 2, rates: [], arrivals: "constant", inFlight: 8, faults: [] });
  const storm = { kind, agents: AGENTS, fraction: 0.25, everyMs: 1_500, forMs: 300, untilMs: settings.measureMs, recoveries };
  const arms = planArms({ protocols: ids, implementations: ["koine"], features: ["envelope"] }, scenario);
  return makePlan({
    scenario,
    mode: "custom",
    settings,
    arms: arms.filter(({ control }) => control === undefined),
    conditions: planStorm(loads, storm, settings.seed),
  });
}

async function run(folder: string, plan: Plan): Promise<BenchResult> {
  const result = await runBench(options(folder, plan, { data: DATA }));
  expect(result.runs.map(({ status, reason, invalid }) => ({ status, reason, invalid }))).toEqual(
    plan.runs.map(() => ({ status: "complete", reason: null, invalid: [] })),
  );
  expect(result.checks).toMatchObject({ witness: { passed: true }, fairness: { passed: true }, replay: { passed: true } });
  expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
  return result;
}

describe("koine bench fail-storm", { timeout: LONG, concurrent: false }, () => {
  it("kills an agent, and nothing is lost or counted twice; its journal decides what the ring still knows", () =>
    withFolder(async (folder) => {
      const ids = protocols
        .filter(({ needsIdentity }) => needsIdentity !== true)
        .map(({ id }) => id)
        .slice(0, 2);
      const { runs } = await run(folder, stormPlan("kill", ids, ["journal", "off"]));
      expect(runs).toHaveLength(4);
      for (const { storm, condition } of runs) {
        expect(storm).toMatchObject({ lost: 0, doubled: 0, cycles: [{ kind: "kill" }] });
        const [cycle] = storm?.cycles ?? [];
        expect(cycle?.paper.pre.right).toBe(cycle?.paper.pre.ended);
        const [victim] = cycle?.victims ?? [];
        expect(victim?.detections.length).toBeGreaterThan(0);
        expect(victim?.reconnect?.sent).toBeGreaterThan(0);
        expect(victim?.downUs).toBeGreaterThanOrEqual(300_000);
        expect(victim?.startUs).toBeGreaterThan(0);
        const isKept = condition.endsWith("recovery-journal");
        expect(victim?.restored).toMatchObject(
          isKept ? { source: "journal", fragments: SHARD } : { source: "none", fragments: 0 },
        );
        if (isKept) {
          const { recoveryUs, downUs, startUs, rejoinUs, workUs } = victim ?? {};
          expect(recoveryUs).toBeCloseTo((downUs ?? 0) + (startUs ?? 0) + (rejoinUs ?? 0) + (workUs ?? 0), 3);
          expect(cycle?.paper.post.right).toBeGreaterThan(0);
        } else expect(storm?.rightShare).toBeLessThan(1);
      }
    }));

  it("gets the state of an agent back from its neighbours", () =>
    withFolder(async (folder) => {
      const [first] = protocols;
      const { runs } = await run(folder, stormPlan("kill", [first?.id ?? ""], ["neighbours"]));
      expect(runs[0]?.storm?.cycles[0]?.victims[0]?.restored).toMatchObject({ source: "neighbours", fragments: SHARD });
      expect(runs[0]?.storm).toMatchObject({ lost: 0, doubled: 0 });
      expect(runs[0]?.storm?.cycles[0]?.recoveryUs).not.toBeNull();
    }));
});
