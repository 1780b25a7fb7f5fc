import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTimestamp, writeTimestamp } from "./timestamp.js";

describe("writeTimestamp", () => {
  // A2A 1.0 §5.6.1
  test.each([
    [1761647400000, "2025-10-28T10:30:00.000Z"],
    [1761661533142, "2025-10-28T14:25:33.142Z"],
    [1761661533007, "2025-10-28T14:25:33.007Z"],
    [0, "1970-01-01T00:00:00.000Z"],
    [-1, "1969-12-31T23:59:59.999Z"],
    [1.9, "1970-01-01T00:00:00.001Z"],
    [1e300, "9999-12-31T23:59:59.999Z"],
  ])("writes %d as %s", (ms, want) => {
    expect(writeTimestamp(ms)).toBe(want);
  });

  test("agrees with the platform within the same and in other seconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62135596800000, max: 253402300799999 }), (ms) => {
        expect(writeTimestamp(ms)).toBe(new Date(ms).toISOString());
        expect(readTimestamp(writeTimestamp(ms), "t")).toBe(ms);
      }),
    );
  });
});

describe("writeTimestamp of a few seconds in turns", () => {
  test.each([[[1, 1, 2, 1, 2, 2]], [[1, 2, 3, 1, 2, 3, 3, 1]]])("%j", (seconds) => {
    for (const second of seconds) expect(writeTimestamp(second * 1000 + 7)).toBe(`1970-01-01T00:00:0${second}.007Z`);
  });
});

describe("readTimestamp", () => {
  test.each([
    ["2025-10-28T10:30:00Z", 1761647400000],
    ["2025-10-28T10:30:00.1Z", 1761647400100],
    ["2025-10-28T10:30:00.123456789Z", 1761647400123],
    ["2025-10-28T12:30:00.000+02:00", 1761647400000],
  ])("reads %s", (text, want) => {
    expect(readTimestamp(text, "t")).toBe(want);
  });

  test.each(["2025-10-28", "2025-10-28T10:30:00", "2025-13-28T10:30:00Z", "2025-10-28T10:30:00.0123456789Z", "", 5, null, {}])(
    "refuses %j",
    (value) => {
      expect(() => readTimestamp(value, "task.status.timestamp")).toThrow(/^task\.status\.timestamp must be a UTC timestamp/);
    },
  );
});
