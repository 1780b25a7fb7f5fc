import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  makePlan,
  planArms,
  planConditions,
  planStorm,
  runBench,
  type ShardData,
  scenarios,
  verifyFolder,
} from "../../bench/protocols/index.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { compiled } from "../programs.js";
import { options, PROCESSES, SETTINGS, withFolder } from "./stage.js";

const LONG = 300_000;
const AGENTS = 3;
/** No silence decides here, however busy the machine is. */
const DATA: ShardData = { source: { kind: "generated", groups: 16, seed: 5 }, heartbeatMs: 100, deadAfterMs: 20_000 };

/** One run of a small ring. No agent dies: only a link is cut for a moment. */
function ringPlan() {
  const scenario = scenarios.failStorm;
  const settings = {
    ...SETTINGS,
    agents: AGENTS,
    measureMs: 1_000,
    requests: 1_000_000,
    payloadBytes: 0,
    retries: 1_000,
    attemptTimeoutMs: 200,
    dispatch: "ring",
    topology: "mesh",
    behaviour: "shard-ring",
  } as const;
  const loads = planConditions({ clients: 1, rates: [], arrivals: "constant", inFlight: 8, faults: [] });
  const storm = { kind: "link", agents: AGENTS, fraction: 0.1, everyMs: 500, forMs: 10, untilMs: 1_000 } as const;
  const protocols = openProtocols.slice(0, 1).map(({ id }) => id);
  return makePlan({
    scenario,
    mode: "custom",
    settings,
    arms: planArms({ protocols, implementations: ["koine"], features: ["envelope"] }, scenario).slice(0, 1),
    conditions: planStorm(loads, { ...storm, recoveries: ["journal"] }, settings.seed),
  });
}

describe("an answer that arrives twice", { timeout: LONG }, () => {
  it.each([
    { who: "the coordinator", caller: PROCESSES.caller, counts: "once" },
    { who: "a coordinator without a memory", caller: compiled("test/bench/processes/forgetful.ts"), counts: "twice" },
  ])("is counted $counts by $who", ({ caller, counts }) =>
    withFolder(async (folder) => {
      const files = { ...PROCESSES, caller, agent: compiled("test/bench/processes/late.ts") };
      const { runs } = await runBench(options(folder, ringPlan(), { data: DATA, files }));
      expect(runs.map(({ status, reason, invalid }) => ({ status, reason, invalid }))).toEqual([
        { status: "complete", reason: null, invalid: [] },
      ]);
      const { lost, doubled = 0, discarded = 0 } = runs[0]?.storm ?? {};
      expect(lost).toBe(0);
      // A busy machine makes more answers late than the one.
      if (counts === "once") expect([doubled, discarded > 0]).toEqual([0, true]);
      else expect([doubled > 0, discarded]).toEqual([true, 0]);
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
    }),
  );
});
