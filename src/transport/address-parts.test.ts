import { describe, expect, it } from "vitest";
import { encodeSegment, withoutEndSlashes } from "./address-parts.js";

describe("encodeSegment()", () => {
  it("keeps every text in one segment", () => {
    expect(["a/../b", "%2e%2e", "...", "a?b#c", "ü"].map((text) => encodeSegment(text, "id"))).toEqual([
      "a%2F..%2Fb",
      "%252e%252e",
      "...",
      "a%3Fb%23c",
      "%C3%BC",
    ]);
  });

  it.each([".", "..", "\ud800"])("refuses %j, which no address can hold as a name", (text) => {
    expect(() => encodeSegment(text, "taskId")).toThrow("taskId cannot stand in an address");
  });
});

describe("withoutEndSlashes()", () => {
  it("takes away what stands at the end, and nothing in the middle", () => {
    expect(["http://a//b///", "http://a", "//", ""].map(withoutEndSlashes)).toEqual(["http://a//b", "http://a", "", ""]);
  });
});
