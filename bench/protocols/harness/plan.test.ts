import { describe, expect, it } from "vitest";
import { arrivalGapsMs } from "../callers/load.js";
import { scheduleFaults } from "../faults/schedule.js";
import { planArms, planConditions } from "./make-plan.js";
import { placeAgents, planRuns } from "./plan-runs.js";

const arms = planArms({ protocols: ["one", "two"], implementations: ["koine"], features: ["envelope"] }, { doseMs: 5 });
const conditions = planConditions({ clients: 2, rates: [], arrivals: "poisson", inFlight: 8, faults: [] });

describe("a plan", () => {
  it("has both controls of the first arm", () => {
    expect(arms.map(({ id, control, of, doseMs }) => ({ id, control, of, doseMs }))).toEqual([
      { id: "one", control: undefined, of: undefined, doseMs: undefined },
      { id: "two", control: undefined, of: undefined, doseMs: undefined },
      { id: "one again", control: "same", of: "one", doseMs: undefined },
      { id: "one +5 ms", control: "dose", of: "one", doseMs: 5 },
    ]);
  });

  it("has no official arm of a protocol without an official implementation", () => {
    const choice = { protocols: ["one", "two"], implementations: ["koine", "official"], features: ["envelope"] } as const;
    const some = planArms({ ...choice, hasOfficial: (protocol) => protocol === "two" }, { doseMs: 5 });
    expect(some.filter(({ control }) => control === undefined).map(({ id }) => id)).toEqual(["one", "two", "two official"]);
  });

  it("has every arm once in every block, in orders that differ and follow from the seed", () => {
    const runs = planRuns({ runs: 20, seed: 5 }, arms, conditions);
    const orders = Array.from({ length: 20 }, (_, block) => runs.filter((run) => run.block === block).map(({ arm }) => arm));
    for (const order of orders) expect([...order].sort()).toEqual(arms.map(({ id }) => id).sort());
    expect(new Set(orders.map((order) => order.join())).size).toBeGreaterThan(5);
    expect(planRuns({ runs: 20, seed: 5 }, arms, conditions)).toEqual(runs);
    expect(planRuns({ runs: 20, seed: 6 }, arms, conditions)).not.toEqual(runs);
  });

  it("gives the arms of a block one seed, and each block another", () => {
    const runs = planRuns({ runs: 3, seed: 5 }, arms, conditions);
    expect(new Set(runs.map(({ block, seed }) => `${block} ${seed}`)).size).toBe(3);
    expect(new Set(runs.map(({ seed }) => seed)).size).toBe(3);
  });

  it("gives every agent a process up to 32, and all of them eight above", () => {
    expect(placeAgents(32)).toHaveLength(32);
    const shared = placeAgents(256);
    expect(shared).toHaveLength(8);
    expect(new Set(shared.flat()).size).toBe(256);
  });

  it("measures each offered load, and the first with each fault", () => {
    const planned = [{ kind: "kill", target: "agent-1", atMs: 1, forMs: 1 }] as const;
    const under = planConditions({
      clients: 1,
      rates: [{ perSecond: 10 }, { perSecond: 20 }, { perSecond: 90, ofCapacity: 1.2 }],
      arrivals: "poisson",
      inFlight: 8,
      agents: [40],
      faults: [{ name: "kill", planned }],
    });
    expect(under.map(({ id, faults }) => [id, faults.length])).toEqual([
      ["poisson-10", 0],
      ["poisson-20", 0],
      ["poisson-120%", 0],
      ["poisson-10 of 40 agents", 0],
      ["poisson-10 kill", 1],
    ]);
  });
});

describe("faults", () => {
  it("hit the same targets at the same times for the same seed", () => {
    const targets = Array.from({ length: 8 }, (_, index) => `agent-${index + 1}`);
    const schedule = { kind: "kill", targets, fraction: 0.375, everyMs: 1_000, forMs: 200, untilMs: 4_000 } as const;
    const faults = scheduleFaults(schedule, 3);
    expect(faults.map(({ atMs }) => atMs)).toEqual([1000, 1000, 1000, 2000, 2000, 2000, 3000, 3000, 3000]);
    expect(scheduleFaults(schedule, 3)).toEqual(faults);
    expect(scheduleFaults(schedule, 4)).not.toEqual(faults);
    for (const cycle of [1000, 2000, 3000])
      expect(new Set(faults.filter(({ atMs }) => atMs === cycle).map(({ target }) => target)).size).toBe(3);
  });
});

describe("arrivals", () => {
  it("are constant, or exponential with the same mean", () => {
    expect(arrivalGapsMs(50, "constant", 1)()).toBe(20);
    const gap = arrivalGapsMs(50, "poisson", 1);
    const gaps = Array.from({ length: 20_000 }, gap);
    const mean = gaps.reduce((sum, each) => sum + each, 0) / gaps.length;
    // The standard error is 20 / √20,000 = 0.14.
    expect(Math.abs(mean - 20)).toBeLessThan(0.7);
  });
});
