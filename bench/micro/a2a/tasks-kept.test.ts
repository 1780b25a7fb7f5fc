import { describe, expect, test } from "vitest";
import { growthOf, isFlat } from "./tasks-kept.js";

describe("growthOf()", () => {
  test("compares the last quarter with the one before", () => {
    expect(growthOf([10, 50, 60, 100, 100, 104, 150, 154])).toBeCloseTo(152 / 102, 12);
  });
});

describe("isFlat()", () => {
  test("a store that keeps its last twenty thousand", () => expect(isFlat([80, 120, 150, 155, 154, 156, 155, 157])).toBe(true));
  test("a store that keeps everything", () => expect(isFlat([100, 180, 260, 340, 420, 500, 580, 660])).toBe(false));
});
