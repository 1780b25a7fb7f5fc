import { describe, expect, it } from "vitest";
import { compareRuns, mcnemar } from "./mcnemar.js";
import type { Outcome } from "./outcome.js";

describe("mcnemar()", () => {
  // Twice the sum of the binomial coefficients up to the smaller count over 2^n, by Python integers.
  it.each([
    [0, 0, 1],
    [0, 1, 1],
    [0, 5, 0.0625],
    [1, 9, 0.021484375],
    [6, 6, 1],
    [10, 20, 0.09873714670538902],
  ])("of %i and %i is that of the exact binomial test", (one, other, p) => {
    expect(mcnemar(one, other)).toBeCloseTo(p, 10);
    expect(mcnemar(other, one)).toBeCloseTo(p, 10);
  });

  it("stays a number where the products would vanish", () => {
    expect(mcnemar(2_000, 2_000)).toBeCloseTo(1, 6);
    expect(mcnemar(0, 5_000)).toBe(0);
  });
});

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
