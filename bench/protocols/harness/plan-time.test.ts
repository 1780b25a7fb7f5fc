import { expect, it } from "vitest";
import { failStorm, streamingQueue } from "../scenarios/index.js";
import type { Scenario, Sizes } from "../scenarios/scenario.js";
import { makePlan, planArms, planConditions } from "./make-plan.js";
import { planStorm } from "./plan-storm.js";
import { plannedMs } from "./plan-time.js";

/** Five protocols, one of them both ways. */
const PROTOCOLS = ["one", "two", "three", "four", "five"];
const LIMITS = { connectTimeoutMs: 10_000, messageTimeoutMs: 30_000, retries: 3, backoffMs: 100 };
const MINUTE = 60_000;
const MODEL = { kind: "scripted", seed: 1, meanMs: 20 } as const;

function planned(
  scenario: Scenario,
  sizes: Sizes & { readonly perWorker?: number },
  recoveries: readonly ("journal" | "off")[],
): number {
  const { agents } = scenario;
  const isStorm = scenario.topology !== undefined;
  const settings = { ...sizes, ...LIMITS, seed: 1, agents, payloadBytes: 0, model: scenario.answers, freeze: [] };
  const rates = isStorm ? [{ perSecond: 20 }] : [];
  const loads = planConditions({
    clients: agents * (sizes.perWorker ?? 1),
    rates,
    arrivals: "poisson",
    inFlight: 256,
    faults: [],
  });
  const times = { everyMs: sizes.measureMs / 2, forMs: 2_000, untilMs: sizes.measureMs };
  const conditions = isStorm ? planStorm(loads, { kind: "kill", agents, fraction: 0.375, ...times, recoveries }, 1) : loads;
  const choice = { implementations: ["koine"], features: ["envelope"], protocols: PROTOCOLS } as const;
  const identitiesOf = (protocol: string) => (protocol === "four" ? "also" : "never") as "also" | "never";
  const plan = makePlan({
    scenario,
    mode: "full",
    settings,
    arms: planArms({ ...choice, identitiesOf }, scenario),
    conditions,
  });
  return plannedMs(plan, isStorm ? { kind: "null" } : MODEL) ?? Number.NaN;
}

it("plans at most six minutes for a quick look at both scenarios, and at most 90 for the whole", () => {
  const quick = planned(failStorm, failStorm.quick, ["journal"]) + planned(streamingQueue, streamingQueue.quick, []);
  const full = planned(failStorm, failStorm.full, ["journal", "off"]) + planned(streamingQueue, streamingQueue.full, []);
  expect(quick / MINUTE).toBeLessThan(6);
  expect(full / MINUTE).toBeLessThan(90);
});

it("adds up windows, warm-up and the start of processes", () => {
  // 24 runs of 200 entries: 20 ms for each of four workers, and six processes.
  expect(planned(streamingQueue, { runs: 3, warmUpMs: 300, measureMs: 60_000, requests: 200 }, [])).toBe(
    24 * (1_000 + 6 * 300 + 300 + 1_000),
  );
});

it("counts the entries that a worker has at a time", () => {
  const sizes = { runs: 3, warmUpMs: 300, measureMs: 60_000, requests: 200, perWorker: 5 };
  // 24 runs of 200 entries: 20 ms for each of twenty at a time.
  expect(planned(streamingQueue, sizes, [])).toBe(24 * (1_000 + 6 * 300 + 300 + 200));
});

it("plans the whole storm for an arm, and what is before the first fault for a control", () => {
  const start = 1_000 + 10 * 300 + 500;
  // Killed at 2 s, down for 2 s, started again in 2 s, and a quarter of the window afterwards.
  const sizes = { runs: 1, warmUpMs: 500, measureMs: 4_000, requests: 1_000_000 };
  expect(planned(failStorm, sizes, ["journal"])).toBe(6 * (start + 7_000) + 2 * (start + 2_000));
});
