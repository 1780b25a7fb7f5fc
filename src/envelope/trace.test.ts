import { describe, expect, test } from "vitest";
import { formatTraceparent, parseTraceparent, sameTrace, traceIdHex } from "./trace.js";

const HEX = "4bf92f3577b34da6a3ce929d0e0e4736";

describe("parseTraceparent()", () => {
  // W3C Trace Context §3.2.4
  test("reads the specification's example", () => {
    const header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    expect(parseTraceparent(header)).toEqual({ traceId: HEX, spanId: "00f067aa0ba902b7", sampled: true });
    expect(parseTraceparent(` ${header} `)).toMatchObject({ traceId: HEX });
    expect(parseTraceparent(`00-${HEX}-00f067aa0ba902b7-02`)).toMatchObject({ sampled: false });
  });

  test("reads a later version by its first four fields", () => {
    expect(parseTraceparent(`cc-${HEX}-00f067aa0ba902b7-01-what`)).toMatchObject({ traceId: HEX });
  });

  for (const header of [
    undefined,
    "",
    "00",
    `ff-${HEX}-00f067aa0ba902b7-01`,
    `00-${HEX}-00f067aa0ba902b7-01-more`,
    `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
    `00-${HEX}-0000000000000000-01`,
    `00-${HEX.toUpperCase()}-00f067aa0ba902b7-01`,
    `00-${HEX}-00f067aa0ba902b7-1`,
  ])
    test(`takes ${header} for none`, () => {
      expect(parseTraceparent(header)).toBeUndefined();
    });
});

test("formatTraceparent() writes version 00", () => {
  const header = formatTraceparent({ traceId: HEX, spanId: "00f067aa0ba902b7", sampled: false });
  expect(header).toBe(`00-${HEX}-00f067aa0ba902b7-00`);
});

test("traceIdHex() reads a UUID and 32 hex digits as the same bytes", () => {
  expect(traceIdHex("4BF92F35-77B3-4DA6-A3CE-929D0E0E4736")).toBe(HEX);
  expect(traceIdHex(HEX.toUpperCase())).toBe(HEX);
  expect(traceIdHex("uuid-v4")).toBeUndefined();
  expect(traceIdHex(undefined)).toBeUndefined();
});

test("sameTrace() compares bytes, and other ids as text", () => {
  expect(sameTrace("4bf92f35-77b3-4da6-a3ce-929d0e0e4736", HEX)).toBe(true);
  expect(sameTrace("uuid-v4", "uuid-v4")).toBe(true);
  expect(sameTrace("uuid-v4", "UUID-V4")).toBe(false);
  expect(sameTrace(HEX, HEX.replace("4", "5"))).toBe(false);
});
