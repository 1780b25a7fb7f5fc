import { describe, expect, it } from "vitest";
import { drawBeta, drawGamma } from "./draw-beta.js";
import { Random, randomFor } from "./random.js";

const DRAWS = 20_000;

function moments(draw: (index: number) => number): { readonly mean: number; readonly variance: number } {
  const drawn = Array.from({ length: DRAWS }, (_, index) => draw(index));
  const mean = drawn.reduce((sum, each) => sum + each, 0) / DRAWS;
  return { mean, variance: drawn.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (DRAWS - 1) };
}

describe("Random", () => {
  it("matches the reference implementation of xoshiro128**", () => {
    const random = new Random([1, 2, 3, 4]);
    // Output of the C code that Blackman and Vigna published, begun with 1, 2, 3, 4.
    const reference = [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849];
    expect(reference.map(() => random.word())).toEqual(reference);
  });

  it("gives the same fractions for the same words, and different ones for others", () => {
    const fractions = (...words: string[]) => {
      const random = randomFor(words);
      return [random.fraction(), random.fraction(), random.fraction()];
    };
    expect(fractions("seed", "context", "1")).toEqual(fractions("seed", "context", "1"));
    const others = [
      fractions("seed", "context", "2"),
      fractions("seed", "context1", ""),
      fractions("seedcontext", "", "1"),
      fractions(""),
    ];
    for (const other of others) expect(other).not.toEqual(fractions("seed", "context", "1"));
  });

  it("is even over the first fractions of following numbers", () => {
    // Uniform between 0 and 1: mean 1/2, variance 1/12.
    const { mean, variance } = moments((index) => randomFor(["seed", String(index)]).fraction());
    expect(Math.abs(mean - 1 / 2)).toBeLessThan(0.01);
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(0.003);
  });

  it("never returns 0 or 1", () => {
    const least = new Random([0, 0, 0, 0]); // the one state whose words are all zero
    expect(least.fraction()).toBeGreaterThan(0);
    const most = Object.assign(new Random([1, 2, 3, 4]), { word: () => 0xffffffff });
    expect(most.fraction()).toBeLessThan(1);
  });
});

/** Five standard errors: by chance that is passed once in a million runs, and these runs are always the same. */
const ERRORS = 5;

describe("drawBeta()", () => {
  for (const [a, b] of [
    [1, 1],
    [2, 1],
    [1, 5],
    [8, 3],
    [30, 4],
    [200, 100],
    [1, 90_000],
  ] as const)
    it(`has mean and variance of Beta(${a}, ${b})`, () => {
      const sum = a + b;
      const expected = { mean: a / sum, variance: (a * b) / (sum * sum * (sum + 1)) };
      const seen = moments((index) => drawBeta(randomFor(["beta", String(index)]), a, b));
      expect(Math.abs(seen.mean - expected.mean)).toBeLessThan(ERRORS * Math.sqrt(expected.variance / DRAWS));
      expect(seen.variance / expected.variance).toBeGreaterThan(0.93);
      expect(seen.variance / expected.variance).toBeLessThan(1.07);
    });
});

describe("drawGamma()", () => {
  for (const shape of [1, 1.5, 7, 400])
    it(`has mean and variance of Gamma(${shape})`, () => {
      const random = randomFor(["gamma"]);
      const seen = moments(() => drawGamma(random, shape));
      expect(Math.abs(seen.mean - shape)).toBeLessThan(ERRORS * Math.sqrt(shape / DRAWS));
      expect(Math.abs(seen.variance / shape - 1)).toBeLessThan(0.1);
    });
});
