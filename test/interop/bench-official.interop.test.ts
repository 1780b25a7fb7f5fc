import { expect, it } from "vitest";
import {
  makePlan,
  officialPrograms,
  officialVersions,
  planArms,
  planConditions,
  runBench,
  scenarios,
} from "../../bench/protocols/index.js";
import { protocols } from "../../src/public/protocols.js";
import { options, SETTINGS, withFolder } from "../bench/stage.js";

/** The protocols whose official implementation is installed here. In CI all four are. */
const installed = protocols
  .map(({ id }) => id)
  .filter((protocol) => officialPrograms({ protocol, features: "envelope" }) !== undefined);

it.skipIf(installed.length === 0)("measures the official implementations beside ours", { timeout: 300_000 }, () =>
  withFolder(async (folder) => {
    const { echo } = scenarios;
    const arms = planArms({ protocols: installed, implementations: ["koine", "official"], features: ["envelope"] }, echo);
    const conditions = planConditions({ clients: 1, rates: [], arrivals: "constant", inFlight: 8, faults: [] });
    const plan = makePlan({ scenario: echo, mode: "custom", settings: SETTINGS, arms, conditions });
    const versions = officialVersions(installed.map((protocol) => ({ protocol })));
    const result = await runBench(options(folder, plan, { programsOf: officialPrograms, versions, startMs: 120_000 }));
    expect(result.runs.map(({ status, reason, invalid }) => ({ status, reason, invalid }))).toEqual(
      plan.runs.map(() => ({ status: "complete", reason: null, invalid: [] })),
    );
    expect(result.checks.fairness.passed).toBe(true);
    expect(result.checks.replay.passed).toBe(true);
    expect(Object.keys(versions)).toHaveLength(installed.length);
  }),
);
