import { describe, expect, it } from "vitest";
import { measure } from "./metrics.js";
import type { Outcome } from "./outcome.js";
import { shareOf } from "./share.js";

const PROTOCOLS = ["A2A", "ACP", "ANP", "Agora"] as const;

type Row = readonly [scenario: string, label: string, chosen: string | null, margin: number | null];

function outcomesOf(rows: readonly Row[], level: number | null = 1): readonly Outcome[] {
  return rows.map(([scenario_id, label, chosen, margin], index) => ({
    file: "a.jsonl",
    scenario_id,
    level,
    module_id: `${scenario_id}-M${index + 1}`,
    label,
    chosen,
    margin,
  }));
}

/** Scored with scikit-learn 1.9.1 (`precision_recall_fscore_support`, `f1_score`, `confusion_matrix`), all with zero_division=0. */
const MIXED = outcomesOf([
  ["s1", "A2A", "A2A", 0.9],
  ["s2", "A2A", "ACP", 0.4],
  ["s2", "ACP", "ACP", 0.8],
  ["s3", "ACP", "ACP", 0.35],
  ["s4", "ACP", "A2A", 0.3],
  ["s4", "ANP", "ANP", 0.95],
  ["s4", "ANP", null, 0],
  ["s5", "Agora", "ANP", 0.2],
  ["s6", "A2A", "A2A", 0.55],
  ["s6", "ACP", "ACP", 0.7],
  ["s6", "ANP", "ANP", 0.95],
  ["s7", "A2A", null, 0.1],
]);

describe("shareOf()", () => {
  // Bounds by statsmodels, proportion_confint(method="wilson").
  it.each([
    [0, 10, 0, 0.27753279986288926],
    [10, 10, 0.7224672001371106, 1],
    [1, 1, 0.2065493143772374, 1],
    [45, 60, 0.6276792992295218, 0.8422347746994333],
    [156, 180, 0.8092727787274112, 0.908737189463406],
    [3, 7, 0.15821985525146964, 0.7495416354723428],
  ])("%i of %i lie between %d and %d", (hits, of, low, high) => {
    const share = shareOf(hits, of);
    expect(share.value).toBe(hits / of);
    expect(share.low).toBeCloseTo(low, 12);
    expect(share.high).toBeCloseTo(high, 12);
  });

  it("returns null without data", () => {
    expect(shareOf(0, 0)).toEqual({ hits: 0, of: 0, value: null, low: null, high: null });
  });
});

describe("measure()", () => {
  const metrics = measure(MIXED, PROTOCOLS);

  it("calls a scenario right only if all its modules are", () => {
    expect([metrics.scenarios.hits, metrics.scenarios.of]).toEqual([3, 7]);
    expect([metrics.modules.hits, metrics.modules.of, metrics.abstained]).toEqual([7, 12, 2]);
  });

  it("matches scikit-learn in precision, recall, F1 and support", () => {
    const rows = metrics.protocols.map(({ precision, recall, f1, support }) => [precision.value, recall.value, f1, support]);
    const expected = [
      [2 / 3, 0.5, 0.5714285714285714, 4],
      [0.75, 0.75, 0.75, 4],
      [2 / 3, 2 / 3, 0.6666666666666666, 3],
      [null, 0, 0, 1],
    ];
    expect(rows).toEqual(expected.map((row) => row.map((value) => (value === null ? null : expect.closeTo(value, 12)))));
    expect(metrics.macroF1).toBeCloseTo(0.49702380952380953, 12);
  });

  it("has rows by label and columns by choice, with abstentions separate", () => {
    expect(metrics.confusion.protocols).toEqual(PROTOCOLS);
    expect(metrics.confusion.rows).toEqual([
      { label: "A2A", chosen: [2, 1, 0, 0], abstained: 1 },
      { label: "ACP", chosen: [1, 3, 0, 0], abstained: 0 },
      { label: "ANP", chosen: [0, 0, 2, 0], abstained: 1 },
      { label: "Agora", chosen: [0, 0, 1, 0], abstained: 0 },
    ]);
  });

  it("excludes protocols without labels and choices from macro-F1, and counts those only chosen as 0", () => {
    // f1_score(["A2A", "A2A", "ACP"], ["A2A", "ANP", "ACP"], average="macro", zero_division=0)
    const few = outcomesOf([
      ["s1", "A2A", "A2A", 1],
      ["s2", "A2A", "ANP", 1],
      ["s3", "ACP", "ACP", 1],
    ]);
    expect(measure(few, PROTOCOLS).macroF1).toBeCloseTo(0.5555555555555555, 12);
  });

  it("keeps scenarios of the same id apart when they come from different files", () => {
    const both = [...outcomesOf([["s1", "ACP", "ACP", 1]]), { ...outcomesOf([["s1", "ACP", "ANP", 1]])[0], file: "b.jsonl" }];
    const { scenarios, files } = measure(both as readonly Outcome[], PROTOCOLS); // every member is there
    expect([scenarios.hits, scenarios.of]).toEqual([1, 2]);
    expect(files.map(({ part, modules }) => [part, modules.hits, modules.of])).toEqual([
      ["a.jsonl", 1, 1],
      ["b.jsonl", 0, 1],
    ]);
  });

  it("lists levels in order, modules without one last", () => {
    const rows = [
      ...outcomesOf([["x", "ACP", "ACP", 1]], null),
      ...outcomesOf([["y", "ACP", "ANP", 1]], 5),
      ...outcomesOf([["z", "ACP", "ACP", 1]], 2),
    ];
    expect(measure(rows, PROTOCOLS).levels.map(({ part, modules }) => [part, modules.value])).toEqual([
      [2, 1],
      [5, 0],
      [null, 1],
    ]);
  });

  it("returns null without modules", () => {
    const nothing = measure([], PROTOCOLS);
    expect([nothing.macroF1, nothing.modules.value, nothing.selective, nothing.levels]).toEqual([null, null, null, []]);
  });
});

describe("the margin", () => {
  const selective = measure(MIXED, PROTOCOLS).selective;

  it("covers less and less as it must be larger", () => {
    const points = selective?.curve.map(({ threshold, coverage, accuracy }) => [
      threshold,
      coverage.hits,
      coverage.of,
      accuracy.hits,
    ]);
    // Counted by hand from MIXED.
    expect(points).toEqual([
      [0, 10, 12, 7],
      [0.1, 10, 12, 7],
      [0.2, 10, 12, 7],
      [0.3, 9, 12, 7],
      [0.4, 7, 12, 6],
      [0.5, 6, 12, 6],
      [0.6, 5, 12, 5],
      [0.7, 5, 12, 5],
      [0.8, 4, 12, 4],
      [0.9, 3, 12, 3],
    ]);
  });

  it("has the calibration error that NumPy finds over ten bins", () => {
    expect(selective?.ece).toBeCloseTo(0.21, 12);
  });

  it("has the area that all orders of equal margins have on average", () => {
    // 40,000 shuffles in Python gave 0.130865199615 for MIXED; all permutations of the four gave 0.375.
    expect(selective?.aurc).toBeCloseTo(0.13086519961519963, 12);
    const ties = outcomesOf([
      ["s1", "ACP", "ACP", 0.5],
      ["s2", "ACP", "ANP", 0.5],
      ["s3", "ACP", "ACP", 0.5],
      ["s4", "ACP", "ANP", 0.2],
    ]);
    expect(measure(ties, PROTOCOLS).selective?.aurc).toBeCloseTo(0.375, 12);
  });

  it("does not reward abstaining: a router that never answers has risk 1 everywhere", () => {
    const silent = measure(outcomesOf([["s1", "ACP", null, 0]]), PROTOCOLS).selective;
    expect([silent?.aurc, silent?.ece, silent?.curve[0]?.accuracy.value]).toEqual([1, null, null]);
  });

  it("is null if an answer has no margin", () => {
    const partly = outcomesOf([
      ["s1", "ACP", "ACP", null],
      ["s2", "ACP", "ACP", 0.5],
    ]);
    expect(measure(partly, PROTOCOLS).selective).toBeNull();
  });
});
