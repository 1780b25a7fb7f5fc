import { expect, test } from "vitest";
import { trendOf } from "./trend.js";

const readings = (values: readonly number[]) => values.map((value, index) => ({ hours: index / 6, value }));

// Expected values computed apart from this code, with t = 3.182 for three degrees of freedom.
test("trendOf() is the slope of least squares with its 95 % interval", () => {
  const flat = trendOf(readings([50.5, 50.8, 50.8, 51.6, 50.0]));
  expect(flat?.perHour).toBeCloseTo(-0.12, 10);
  expect(flat?.low).toBeCloseTo(-4.167, 3);
  expect(flat?.high).toBeCloseTo(3.927, 3);
});

test("trendOf() of readings on a line is that line, without doubt", () => {
  const line = trendOf(readings([50, 51, 52, 53]));
  for (const figure of [line?.perHour, line?.low, line?.high]) expect(figure).toBeCloseTo(6, 10);
});

test("trendOf() has no interval for two readings", () => {
  expect(trendOf(readings([1, 2]))).toBeUndefined();
});
