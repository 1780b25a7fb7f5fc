import { describe, expect, test } from "vitest";
import { median, medianInterval, pairedRatios, percentile, spread, variation } from "./statistics.js";

const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

describe("percentile()", () => {
  test("uses the nearest rank", () => {
    expect(percentile([15, 20, 35, 40, 50], 0.3)).toBe(20);
    expect(percentile([15, 20, 35, 40, 50], 0.4)).toBe(20);
    expect(percentile([15, 20, 35, 40, 50], 0.5)).toBe(35);
    expect(percentile([15, 20, 35, 40, 50], 1)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
  });
  test("returns the minimum for share 0", () => expect(percentile([3, 9], 0)).toBe(3));
  test("reads typed arrays", () => expect(percentile(Float64Array.of(1, 2, 3, 4), 0.75)).toBe(3));
  test("refuses no samples", () => expect(() => percentile([], 0.5)).toThrow("no samples"));
});

describe("median()", () => {
  test("of an odd number", () => expect(median([9, 1, 5])).toBe(5));
  test("of an even number", () => expect(median([4, 1, 3, 2])).toBe(2.5));
  test("sorts by number, not by text", () => expect(median([10, 9, 100])).toBe(10));
  test("refuses no samples", () => expect(() => median([])).toThrow("no samples"));
});

describe("spread()", () => {
  test("is the 10th and 90th percentile", () => expect(spread(hundred)).toEqual([10, 90]));
  test("of one sample is that sample", () => expect(spread([0.8])).toEqual([0.8, 0.8]));
});

describe("variation()", () => {
  // Population of 2, 4, 4, 4, 5, 5, 7, 9: mean 5, standard deviation 2.
  test("is standard deviation over mean", () => expect(variation([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(0.4, 12));
  test("of equal samples is zero", () => expect(variation([3, 3, 3])).toBe(0));
});

describe("pairedRatios()", () => {
  test("divides round by round", () => expect(pairedRatios([80, 45], [100, 50])).toEqual([0.8, 0.9]));
  test("the median of ratios is not the ratio of medians", () => {
    const arm = [10, 100, 1000];
    const floor = [20, 50, 4000];
    expect(median(pairedRatios(arm, floor))).toBe(0.5);
    expect(median(arm) / median(floor)).toBe(2);
  });
  test("refuses unequal numbers of rounds", () =>
    expect(() => pairedRatios([1, 2], [1])).toThrow("2 rounds of the arm, 1 of the floor"));
});

describe("medianInterval()", () => {
  // Ranks from the usual table of the sign test at 95 %: n = 6 → 1, n = 10 → 2, n = 20 → 6, n = 30 → 10.
  test.each([
    [6, 1, 6],
    [10, 2, 9],
    [20, 6, 15],
    [30, 10, 21],
  ])("of %i rounds lies between ranks %i and %i", (count, low, high) => {
    expect(medianInterval(hundred.slice(0, count))).toEqual([low, high]);
  });
  // scipy.stats.binom(n, 0.5).ppf(0.025): 469 of 1,000 and 4902 of 10,000.
  test.each([
    [1_000, 469, 532],
    [10_000, 4_902, 5_099],
  ])("of %i samples lies between ranks %i and %i", (count, low, high) => {
    expect(medianInterval(Array.from({ length: count }, (_, index) => index + 1))).toEqual([low, high]);
  });
  test("five rounds are too few", () => expect(medianInterval([1, 2, 3, 4, 5])).toBeUndefined());
});
