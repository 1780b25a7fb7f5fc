import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mcnemar, wilson } from "../../harness/proportions.js";
import { median } from "../../harness/statistics.js";
import { bcaInterval } from "./bootstrap.js";
import { betaCdf, betaQuantile, noncentralTCdf, normalCdf, normalQuantile, tQuantile, tUpper } from "./distributions.js";
import { coefficientOfVariation, momentsOf } from "./moments.js";
import { clopperPearson } from "./proportions.js";
import { cliffsDelta, hodgesLehmann } from "./ranks.js";
import { cohensD, equivalence, holm, minimumDetectable, welch } from "./welch.js";

type Numbers = readonly number[];
type Interval = Numbers | null;

interface Vectors {
  readonly samples: Readonly<Record<string, Numbers>>;
  readonly distributions: Readonly<
    Record<
      "normalCdf" | "normalQuantile" | "tUpper" | "tQuantile" | "betaCdf" | "betaQuantile" | "noncentralT",
      readonly Numbers[]
    >
  >;
  readonly bootstraps: readonly {
    readonly sample: string;
    readonly statistic: "mean" | "median";
    readonly seed: number;
    readonly confidence: number;
    readonly resamples: number;
    readonly interval: Numbers;
  }[];
  readonly pairs: readonly {
    readonly first: string;
    readonly second: string;
    readonly welch: { readonly freedom: number; readonly p: number; readonly interval: Numbers };
    readonly equivalence: readonly Numbers[];
    readonly cohensD: number;
    readonly cliffsDelta: { readonly delta: number; readonly interval: Interval };
    readonly hodgesLehmann: { readonly shift: number; readonly interval: Interval };
  }[];
  readonly holm: { readonly p: Numbers; readonly adjusted: Numbers };
  readonly proportions: readonly {
    readonly hits: number;
    readonly of: number;
    readonly wilson: Numbers;
    readonly exact: Numbers;
  }[];
  readonly mcnemar: readonly Numbers[];
  readonly detectable: readonly { readonly n: number; readonly alpha: number; readonly power: number; readonly d: number }[];
  readonly variation: readonly (readonly [string, number])[];
}

/** Computed by SciPy and statsmodels: `fixtures/make-vectors.py` says which versions. */
const vectors = JSON.parse(readFileSync(new URL("./fixtures/vectors.json", import.meta.url), "utf8")) as Vectors; // written by it
const RELATIVE = 1e-9;

function expectClose(found: number | undefined, wanted: number | undefined, relative = RELATIVE): void {
  expect(found).toBeTypeOf("number");
  expect(wanted).toBeTypeOf("number");
  const reach = relative * Math.max(Math.abs(wanted ?? 0), 1e-12);
  expect(Math.abs((found ?? Number.NaN) - (wanted ?? Number.NaN)), `${found} for ${wanted}`).toBeLessThanOrEqual(reach);
}

function expectInterval(found: Numbers | undefined, wanted: Interval): void {
  if (wanted === null) return void expect(found).toBeUndefined();
  expect(found).toHaveLength(2);
  expectClose(found?.[0], wanted[0]);
  expectClose(found?.[1], wanted[1]);
}

const sample = (name: string): Numbers => vectors.samples[name] ?? [];

describe("distributions, as SciPy computes them", () => {
  const FUNCTIONS = {
    normalCdf: (z = Number.NaN) => normalCdf(z),
    normalQuantile: (p = Number.NaN) => normalQuantile(p),
    tUpper: (t = Number.NaN, freedom = Number.NaN) => tUpper(t, freedom),
    tQuantile: (p = Number.NaN, freedom = Number.NaN) => tQuantile(p, freedom),
    betaCdf: (x = Number.NaN, a = Number.NaN, b = Number.NaN) => betaCdf(x, a, b),
    betaQuantile: (p = Number.NaN, a = Number.NaN, b = Number.NaN) => betaQuantile(p, a, b),
  } as const;
  it.each(["normalCdf", "normalQuantile", "tUpper", "tQuantile", "betaCdf", "betaQuantile"] as const)("%s()", (name) => {
    expect(vectors.distributions[name].length).toBeGreaterThan(8);
    for (const row of vectors.distributions[name]) expectClose(FUNCTIONS[name](...row.slice(0, -1)), row.at(-1));
  });
  it("noncentralTCdf()", () => {
    for (const [t = 0, freedom = 0, shift = 0, wanted = Number.NaN] of vectors.distributions.noncentralT)
      expect(noncentralTCdf(t, freedom, shift), `${t} ${freedom} ${shift}`).toBeCloseTo(wanted, 10);
  });
});

describe("bcaInterval()", () => {
  const STATISTICS = { mean: (values: Numbers) => momentsOf(values).mean, median } as const;
  it.each(vectors.bootstraps)("of the $statistic of $sample is that of SciPy over the same resamples", (row) => {
    const statistic = STATISTICS[row.statistic];
    const found = bcaInterval(sample(row.sample), { ...row, statistic });
    expectInterval(found, row.interval);
  });
});

describe("pairs of arms", () => {
  it.each(vectors.pairs)("$first and $second", (pair) => {
    const [first, second] = [sample(pair.first), sample(pair.second)];
    const found = welch(first, second);
    expectClose(found?.freedom, pair.welch.freedom);
    expectClose(found?.p, pair.welch.p);
    expectInterval(found?.interval, pair.welch.interval);
    for (const [margin = 0, p] of pair.equivalence) expectClose(equivalence(first, second, margin), p, 1e-8);
    expectClose(cohensD(first, second), pair.cohensD);
    const delta = cliffsDelta(first, second);
    expectClose(delta?.delta, pair.cliffsDelta.delta);
    expectInterval(delta?.interval, pair.cliffsDelta.interval);
    const shift = hodgesLehmann(first, second);
    expectClose(shift?.shift, pair.hodgesLehmann.shift);
    expectInterval(shift?.interval, pair.hodgesLehmann.interval);
  });
  it("holm()", () => {
    const adjusted = holm(vectors.holm.p);
    expect(adjusted).toHaveLength(vectors.holm.adjusted.length);
    for (const [index, p] of vectors.holm.adjusted.entries()) expectClose(adjusted[index], p);
  });
  it.each(vectors.detectable)("minimumDetectable() with $n runs, alpha $alpha, power $power", ({ n, alpha, power, d }) => {
    // Two samples of the same spread, scaled to a standard deviation of one.
    const spread = Array.from({ length: n }, (_, index) => index);
    const scale = Math.sqrt((n * (n + 1)) / 12);
    const values = spread.map((value) => value / scale);
    // The noncentral t distribution of SciPy has about six digits.
    expectClose(minimumDetectable(values, values, { alpha, power }), d, 1e-5);
  });
});

describe("proportions", () => {
  it.each(vectors.proportions)("$hits of $of", ({ hits, of, wilson: score, exact }) => {
    const [low = Number.NaN, high = Number.NaN] = wilson(hits, of) ?? [];
    expect(low).toBeCloseTo(score[0] ?? Number.NaN, 12);
    expect(high).toBeCloseTo(score[1] ?? Number.NaN, 12);
    expectInterval(clopperPearson(hits, of), exact);
  });
  it("mcnemar()", () => {
    for (const [one = 0, other = 0, p] of vectors.mcnemar) expectClose(mcnemar(one, other), p);
  });
});

describe("coefficientOfVariation()", () => {
  it.each(vectors.variation)("of %s", (name, wanted) => expectClose(coefficientOfVariation(sample(name)), wanted));
});
