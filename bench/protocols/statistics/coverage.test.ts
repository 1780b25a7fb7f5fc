import { describe, expect, it } from "vitest";
import { chance } from "../../harness/chance.js";
import { wilson } from "../../harness/proportions.js";
import type { Range } from "../../harness/result.js";
import { bcaInterval } from "./bootstrap.js";
import { clopperPearson } from "./proportions.js";
import { cliffsDelta, hodgesLehmann } from "./ranks.js";
import { equivalence, holm, minimumDetectable, welch } from "./welch.js";

/** Repetitions: a share of 95 % is then known to about ±2.2 points (three standard errors). Seeded, so every run is the same. */
const TIMES = 900;

type Draw = () => number;

/** By Box and Muller. */
const normal =
  (random: Draw, mean: number, sd: number): Draw =>
  () =>
    mean + sd * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const exponential =
  (random: Draw, mean: number): Draw =>
  () =>
    -mean * Math.log(1 - random());
const sampleOf = (draw: Draw, count: number): readonly number[] => Array.from({ length: count }, draw);

/** The share of repetitions in which something holds. */
function shareOf(times: number, holds: (index: number) => boolean): number {
  let count = 0;
  for (let index = 0; index < times; index++) if (holds(index)) count++;
  return count / times;
}

const covers = (interval: Range | undefined, truth: number): boolean =>
  interval !== undefined && interval[0] <= truth && truth <= interval[1];

describe("95 % intervals contain the truth in about 95 of 100 cases", () => {
  it("welch(), unequal spreads and counts", () => {
    const random = chance(1);
    const [a, b] = [normal(random, 100, 5), normal(random, 97, 15)];
    const share = shareOf(TIMES, () => covers(welch(sampleOf(a, 8), sampleOf(b, 12))?.interval, 3));
    expect(share).toBeGreaterThan(0.928);
    expect(share).toBeLessThan(0.972);
  });
  it("hodgesLehmann(), skewed samples", () => {
    const random = chance(2);
    const draw = exponential(random, 10);
    const share = shareOf(TIMES, () =>
      covers(
        hodgesLehmann(
          sampleOf(draw, 10).map((value) => value + 4),
          sampleOf(draw, 10),
        )?.interval,
        4,
      ),
    );
    expect(share).toBeGreaterThan(0.928);
    expect(share).toBeLessThan(0.985);
  });
  it("cliffsDelta(): two normal samples one standard deviation apart", () => {
    const random = chance(3);
    const [a, b] = [normal(random, 1, 1), normal(random, 0, 1)];
    // P(A > B) − P(A < B) = 2 Φ(1/√2) − 1
    const truth = 0.5204998778130465;
    const share = shareOf(TIMES, () => covers(cliffsDelta(sampleOf(a, 15), sampleOf(b, 15))?.interval, truth));
    expect(share).toBeGreaterThan(0.915);
    expect(share).toBeLessThan(0.985);
  });
  it("bcaInterval(), thirty runs", () => {
    const random = chance(4);
    const draw = normal(random, 50, 8);
    const share = shareOf(400, (seed) => covers(bcaInterval(sampleOf(draw, 30), { seed, resamples: 1_000 }), 50));
    expect(share).toBeGreaterThan(0.91);
    expect(share).toBeLessThan(0.98);
  });
  it("wilson() about, clopperPearson() at least", () => {
    const random = chance(5);
    const hits = () => sampleOf(random, 40).filter((value) => value < 0.9).length;
    const drawn = Array.from({ length: TIMES }, hits);
    expect(shareOf(TIMES, (index) => covers(wilson(drawn[index] ?? 0, 40), 0.9))).toBeGreaterThan(0.92);
    expect(shareOf(TIMES, (index) => covers(clopperPearson(drawn[index] ?? 0, 40), 0.9))).toBeGreaterThan(0.945);
  });
});

describe("tests are wrong as rarely as they say", () => {
  it("welch() with holm() finds a difference among five equal arms in at most 5 of 100 cases", () => {
    const random = chance(6);
    const draw = normal(random, 20, 2);
    const share = shareOf(TIMES, () => {
      const arms = Array.from({ length: 5 }, () => sampleOf(draw, 8));
      const pairs = arms.flatMap((a, index) => arms.slice(index + 1).map((b) => welch(a, b)?.p ?? Number.NaN));
      return holm(pairs).some((p) => p < 0.05);
    });
    expect(share).toBeLessThan(0.065);
    expect(share).toBeGreaterThan(0.01);
  });
  it("equivalence() calls arms that differ by just the margin equal in at most 5 of 100 cases", () => {
    const random = chance(7);
    const [a, b] = [normal(random, 105, 3), normal(random, 100, 3)];
    const share = shareOf(TIMES, () => (equivalence(sampleOf(a, 10), sampleOf(b, 10), 5) ?? 1) < 0.05);
    expect(share).toBeLessThan(0.072);
    expect(share).toBeGreaterThan(0.02);
  });
  it("welch() finds the difference that minimumDetectable() promises in about 80 of 100 cases", () => {
    const random = chance(8);
    // The effect for n = 10 and a standard deviation of 1, from statsmodels.
    const effect = 1.3249;
    const [a, b] = [normal(random, effect, 1), normal(random, 0, 1)];
    const samples = Array.from({ length: TIMES }, () => [sampleOf(a, 10), sampleOf(b, 10)] as const);
    const share = shareOf(TIMES, (index) => (welch(...(samples[index] ?? [[], []]))?.p ?? 1) < 0.05);
    expect(share).toBeGreaterThan(0.76);
    expect(share).toBeLessThan(0.84);
    const promised = samples.map(([first, second]) => minimumDetectable(first, second) ?? Number.NaN);
    expect(promised.reduce((sum, value) => sum + value, 0) / TIMES).toBeCloseTo(effect, 1);
  });
});
