import { expect, it } from "vitest";
import { conclude } from "../../harness/conclude.js";
import { concludeStart, EMPTY, FLOORS, START, STARTS } from "./ratios.js";

it("subtracts the empty process of the same round, in milliseconds", () => {
  const rows = STARTS.map(({ arm }) => {
    const ms = arm.startsWith(EMPTY) ? [40, 80] : arm.includes("router") ? [50, 95] : [140, 180];
    return { section: START, arm, series: ms.map((each) => ({ cpuUs: each * 1000, p50Us: each * 2000 })) };
  });
  const { ratios, targets } = concludeStart(conclude([FLOORS], rows), rows);
  expect(ratios).toMatchObject({ floor_vs_floor: 1, import_router_added_cpu_ms: 12.5, import_koine_added_cpu_ms: 100 });
  expect(ratios["import_router_added_ms"]).toBe(25);
  expect(targets["import_router_added_cpu_ms"]).toEqual({ atMost: 60, met: true });
  expect(targets["import_koine_added_cpu_ms"]).toEqual({ atMost: 60, met: false });
});
