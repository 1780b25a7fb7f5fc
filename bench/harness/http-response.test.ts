import { describe, expect, test } from "vitest";
import { findResponse } from "./http-response.js";

const withLength = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}';
const inChunks = "HTTP/1.1 503 Busy\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0a\r\n0123456789\r\n0\r\n\r\n";

describe("findResponse()", () => {
  test("reads a response with a length, and leaves the following bytes", () => {
    const got = findResponse(Buffer.from(`${withLength}HTTP/1.1 200`));
    expect(got).toEqual({ status: 200, bodyStart: 70, end: 77 });
  });
  test("reads a response in chunks", () => {
    expect(findResponse(Buffer.from(inChunks))).toEqual({ status: 503, bodyStart: 49, end: 78 });
  });
  test.each([withLength, inChunks])("waits for every last byte", (whole) => {
    const early = Array.from({ length: whole.length }, (_, bytes) => findResponse(Buffer.from(whole.slice(0, bytes))));
    expect(early.every((span) => span === undefined)).toBe(true);
  });
  test("refuses a response without a length", () => {
    expect(() => findResponse(Buffer.from("HTTP/1.1 200 OK\r\n\r\n"))).toThrow("without length");
  });
});
