import { describe, expect, it } from "vitest";
import { mcnemar } from "./proportions.js";

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
