import { expect, test } from "vitest";
import { readTimeout, writeTimeout } from "./timeout.js";

// The units of the gRPC protocol: hours, minutes, seconds, milli-, micro- and nanoseconds.
test.each([
  ["1H", 3_600_000],
  ["2M", 120_000],
  ["3S", 3_000],
  ["4m", 4],
  ["5000u", 5],
  ["6000000n", 6],
  ["99999999S", 99_999_999_000],
])("%s is %d milliseconds", (header, ms) => {
  expect(readTimeout(header)).toBe(ms);
});

test("is written with at most eight digits, and never zero", () => {
  expect([0.2, 0, -5, 1_500, 99_999_999, 100_000_000, 1e15].map(writeTimeout)).toEqual([
    "1m",
    "1m",
    "1m",
    "1500m",
    "99999999m",
    "100000S",
    "99999999S",
  ]);
});
