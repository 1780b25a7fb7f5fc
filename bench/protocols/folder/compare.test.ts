import { describe, expect, test } from "vitest";
import { inventedResult } from "../../../test/helpers/bench-result.js";
import { renderChanges } from "../table.js";
import { compareResults } from "./compare.js";
import { FolderError } from "./folder.js";

const ARMS = [
  { id: "alpha", addedUs: 300 },
  { id: "beta", addedUs: 320 },
];
const before = inventedResult({ arms: ARMS });

describe("compareResults", () => {
  test("finds nothing between a result and itself", () => {
    const { changes, notes } = compareResults(before, before);
    expect(notes).toEqual([]);
    // Two arms and the two controls, three metrics and the primary one.
    expect(changes.map(({ arm }) => arm)).toEqual(expect.arrayContaining(["alpha", "beta", "alpha again", "alpha +5 ms"]));
    for (const { shift, adjustedP } of changes) expect([shift, adjustedP ?? 1]).toEqual([0, 1]);
  });

  test("finds the arm that became slower, with the size of the change, and no other", () => {
    const after = inventedResult({ arms: [ARMS[0] ?? { id: "", addedUs: 0 }, { id: "beta", addedUs: 1_320 }] });
    const { changes } = compareResults(before, after);
    const medians = changes.filter(({ metric }) => metric === "p50Us");
    const slower = medians.filter(({ adjustedP = 1, shift = 0 }) => adjustedP < 0.05 && shift > 500);
    expect(slower.map(({ arm }) => arm)).toEqual(["beta"]);
    const [low = 0, high = 0] = slower[0]?.interval ?? [];
    expect([low > 900, high < 1_500]).toEqual([true, true]);
    expect(renderChanges(changes)).toMatch(/beta, closed-1 +p50Us/);
  });

  test("corrects over all changes, and has no margin for what is no time", () => {
    const { changes } = compareResults(before, inventedResult({ arms: ARMS, runs: 5 }));
    for (const { metric, p, adjustedP, equivalenceP } of changes) {
      expect(adjustedP ?? 1).toBeGreaterThanOrEqual(p ?? 0);
      expect(equivalenceP === undefined).toBe(metric === "throughputPerS");
    }
  });

  test("names settings that differ and arms that only one has, and refuses another scenario", () => {
    const other = inventedResult({ arms: [...ARMS, { id: "gamma", addedUs: 900 }], runs: 5 });
    expect(compareResults(before, other).notes).toEqual(["runs: 8 before, 5 after", "gamma is only in the second result"]);
    const renamed = { ...before, plan: { ...before.plan, scenario: "another" } };
    expect(() => compareResults(before, renamed)).toThrow(FolderError);
  });
});
