import { describe, expect, it } from "vitest";
import { bcaInterval, MAX_BOOTSTRAP_VALUES } from "./bootstrap.js";
import { comparePairs, conclusionOf } from "./compare.js";
import { variationOf } from "./moments.js";
import { clopperPearson } from "./proportions.js";
import { cliffsDelta, deltaLabel, hodgesLehmann } from "./ranks.js";
import { cohensD, equivalence, holm, minimumDetectable, welch } from "./welch.js";

const FLAT = [5, 5, 5, 5, 5, 5];

describe("few runs, and runs that do not vary", () => {
  it("one run gives no test and no interval", () => {
    expect(welch([1], [2, 3])).toBeUndefined();
    expect(equivalence([1], [2], 3)).toBeUndefined();
    expect(cohensD([1], [2])).toBeUndefined();
    expect(minimumDetectable([1], [2])).toBeUndefined();
    expect(cliffsDelta([1], [2])).toEqual({ delta: -1, interval: undefined });
    expect(hodgesLehmann([1], [2])).toEqual({ shift: -1, interval: undefined });
  });
  it("no runs give nothing", () => {
    expect(cliffsDelta([], [1])).toBeUndefined();
    expect(hodgesLehmann([1], [])).toBeUndefined();
    expect(bcaInterval([], { seed: 1 })).toBeUndefined();
    expect(clopperPearson(0, 0)).toBeUndefined();
    expect(holm([])).toEqual([]);
    expect(variationOf([])).toEqual({ inRun: undefined, runToRun: undefined });
  });
  it("equal runs have an interval without width", () => expect(bcaInterval(FLAT, { seed: 1 })).toEqual([5, 5]));
  it("arms without any spread are compared by their ranks only", () => {
    const [pair] = comparePairs(
      [
        { arm: "a", values: FLAT },
        { arm: "b", values: FLAT },
      ],
      1,
    );
    expect(pair).toMatchObject({ shift: 0, interval: [0, 0], p: undefined, adjustedP: undefined, cliffsDelta: 0 });
  });
  it("three runs on each side are too few for a 95 % interval of the shift, four are enough", () => {
    expect(hodgesLehmann([1, 2, 3], [4, 5, 6])?.interval).toBeUndefined();
    expect(hodgesLehmann([1, 2, 3, 4], [5, 6, 7, 8])?.interval).toEqual([-7, -1]);
  });
  it("two runs on each side cannot detect anything after a strict correction", () =>
    expect(minimumDetectable([1, 2], [1, 2.1], { alpha: 1e-6 })).toBeUndefined());
});

describe("large inputs", () => {
  it("the bootstrap refuses requests: it takes runs", () =>
    expect(() => bcaInterval(new Array(MAX_BOOTSTRAP_VALUES + 1).fill(1), { seed: 1 })).toThrow("takes runs"));
  it("shift and delta of 20,000 values each do not list their pairs", () => {
    const values = Array.from({ length: 20_000 }, (_, index) => (index * 7919) % 20_000);
    const later = values.map((value) => value + 25);
    expect(hodgesLehmann(later, values)?.shift).toBe(25);
    // With whole numbers from 0 to n − 1: i + 25 ≤ j for (n − 25)(n − 24)/2 pairs, i + 25 < j for (n − 26)(n − 25)/2.
    const n = 20_000;
    const notAbove = ((n - 25) * (n - 24)) / 2;
    const below = ((n - 26) * (n - 25)) / 2;
    expect(cliffsDelta(later, values)?.delta).toBeCloseTo((n * n - notAbove - below) / (n * n), 12);
  });
});

describe("comparePairs()", () => {
  const arms = [
    { arm: "a", values: [10, 11, 12, 10, 11, 12] },
    { arm: "b", values: [10.1, 11.1, 11.9, 10.2, 10.9, 12] },
    { arm: "c", values: [20, 21, 22, 20, 21, 22] },
  ];
  it("leaves no pair out, and corrects over all of them", () => {
    const pairs = comparePairs(arms, 5);
    expect(pairs.map(({ a, b }) => `${a} ${b}`)).toEqual(["a b", "a c", "b c"]);
    for (const { p, adjustedP } of pairs) expect(adjustedP).toBeGreaterThanOrEqual(p ?? Number.NaN);
    expect(pairs.map(conclusionOf)).toEqual(["equal", "different", "different"]);
  });
  it("says first minus second", () =>
    expect(comparePairs(arms, 1)[1]).toMatchObject({ a: "a", b: "c", shift: -10, cliffsDelta: -1 }));
  it("refuses more arms than its pairs are limited to", () =>
    expect(() =>
      comparePairs(
        Array.from({ length: 65 }, (_, index) => ({ arm: `${index}`, values: [1, 2] })),
        1,
      ),
    ).toThrow("at most 64"));
});

describe("conclusionOf()", () => {
  it.each([
    [0.01, 0.5, "different"],
    [0.01, 0.01, "different, within the margin"],
    [0.5, 0.01, "equal"],
    [0.5, 0.5, "undecided"],
    [null, undefined, "undecided"],
  ])("of p %s and %s is %s", (adjustedP, equivalenceP, wanted) => expect(conclusionOf({ adjustedP, equivalenceP })).toBe(wanted));
});

describe("deltaLabel()", () => {
  it.each([
    [0.1, "negligible"],
    [-0.2, "small"],
    [0.4, "medium"],
    [-0.474, "large"],
  ])("of %s is %s", (delta, label) => expect(deltaLabel(delta)).toBe(label));
});

describe("variationOf()", () => {
  // Within: sd 1 over mean 10 and sd 2 over mean 20. Between: 10 and 20, sd √50, mean 15.
  it("keeps the variation within runs apart from that between them", () => {
    const { inRun, runToRun } = variationOf([
      [9, 10, 11],
      [18, 20, 22],
    ]);
    expect(inRun).toBeCloseTo(0.1, 12);
    expect(runToRun).toBeCloseTo(Math.sqrt(50) / 15, 12);
  });
});
