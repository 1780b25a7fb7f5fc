import { describe, expect, it } from "vitest";
import { compareRuns } from "./mcnemar.js";
import type { Outcome } from "./outcome.js";

describe("compareRuns()", () => {
  const outcome = (module_id: string, chosen: string | null): Outcome => ({
    file: "f",
    scenario_id: "s",
    level: null,
    module_id,
    label: "A2A",
    chosen,
    margin: null,
  });

  it("counts the modules that only one of two runs got right, over those that both scored", () => {
    const first = { name: "spec", outcomes: [outcome("a", "A2A"), outcome("b", null), outcome("c", "A2A"), outcome("d", "A2A")] };
    const second = { name: "model", outcomes: [outcome("a", "ACP"), outcome("b", "A2A"), outcome("c", "A2A")] };
    expect(compareRuns(first, second)).toEqual({ first: "spec", second: "model", pairs: 3, onlyFirst: 1, onlySecond: 1, p: 1 });
  });
});
