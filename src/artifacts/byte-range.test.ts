import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readContentRange, readRange } from "./byte-range.js";

describe("readRange()", () => {
  // RFC 9110 §14.1.2, of 10000 bytes
  for (const [header, want] of [
    ["bytes=0-499", { start: 0, end: 500 }],
    ["bytes=500-999", { start: 500, end: 1000 }],
    ["bytes=-500", { start: 9500, end: 10000 }],
    ["bytes=9500-", { start: 9500, end: 10000 }],
    ["bytes=0-0", { start: 0, end: 1 }],
    ["bytes=9999-20000", { start: 9999, end: 10000 }],
    ["bytes=-20000", { start: 0, end: 10000 }],
    ["Bytes= 0-499", { start: 0, end: 500 }],
    ["bytes=10000-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=5-4", "whole"],
    ["bytes=-", "whole"],
    ["bytes=0-0,-1", "whole"],
    ["bytes=a-b", "whole"],
    ["bytes=0-1e3", "whole"],
    ["bytes=99999999999999999999-", "whole"],
    ["lines=0-1", "whole"],
    [undefined, "whole"],
  ] as const)
    test(`${header} is ${JSON.stringify(want)}`, () => {
      expect(readRange(header, 10_000)).toEqual(want);
    });

  test("nothing has no range", () => {
    expect(readRange("bytes=0-0", 0)).toBe("unsatisfiable");
    expect(readRange("bytes=-1", 0)).toBe("unsatisfiable");
  });

  test("never leaves the artifact", () => {
    const inside = (header: string, size: number): boolean => {
      const range = readRange(header, size);
      return typeof range === "string" || (range.start >= 0 && range.start < range.end && range.end <= size);
    };
    const part = fc.oneof(fc.nat().map(String), fc.constant(""), fc.string());
    fc.assert(
      fc.property(part, part, fc.nat(), (first, last, size) => {
        expect(inside(`bytes=${first}-${last}`, size)).toBe(true);
      }),
    );
  });
});

test("readContentRange() parses the header of a 206", () => {
  expect(readContentRange("bytes 42-1233/1234")).toEqual({ start: 42, end: 1234, size: 1234 }); // RFC 9110 §14.4
  for (const header of [
    undefined,
    "bytes 42-1233/*",
    "bytes */1234",
    "bytes 5-4/10",
    "bytes 0-10/10",
    "items 0-1/2",
    "bytes 0-1",
  ])
    expect(readContentRange(header)).toBeUndefined();
});
