import { describe, expect, it } from "vitest";
import { sampleEvents } from "../../../test/helpers/bench-events.js";
import { summarise } from "../result/index.js";
import { kneeOf, type LoadPoint, loadPoints } from "./knee.js";

const point = (offered: number | null, p95Us: number, successRate = 1): LoadPoint => ({
  condition: `c${offered}`,
  offered,
  throughput: offered ?? 50,
  p95Us,
  successRate,
});

describe("kneeOf()", () => {
  it("is the last load whose P95 is at most twice that of the lowest", () =>
    expect(kneeOf([point(10, 100), point(20, 150), point(30, 200), point(40, 201), point(50, 150)])?.offered).toBe(30));
  it("is the last load of which nearly all is answered", () =>
    expect(kneeOf([point(10, 100), point(20, 101, 0.995), point(30, 102, 0.98)])?.offered).toBe(20));
  it("is the highest load where none is too high", () => expect(kneeOf([point(10, 100), point(20, 110)])?.offered).toBe(20));
  it.each([
    ["one load", [point(10, 100)]],
    ["a closed loop", [point(null, 100), point(null, 120)]],
    ["a lowest load that already fails", [point(10, 100, 0.5), point(20, 100)]],
  ])("does not exist for %s", (_what, points) => expect(kneeOf(points)).toBeUndefined());
});

describe("loadPoints()", () => {
  it("leaves out what is another system: faults, another number of agents, a killed coordinator", () => {
    const { arms, plan } = summarise(sampleEvents());
    const [load] = plan.conditions;
    if (load === undefined) throw new Error("no condition");
    const others = [
      { ...load, agents: 8 },
      { ...load, coordinator: { killAt: 4, downForMs: 0 } },
      { ...load, faults: [{ kind: "kill" as const, target: "agent-1", atMs: 1, forMs: 1 }] },
    ];
    expect(loadPoints("one", [load, ...others], arms).map(({ condition }) => condition)).toEqual([load.id]);
  });
});
