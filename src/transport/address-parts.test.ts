import { describe, expect, it } from "vitest";
import { encodeSegment, withoutTrailingSlashes } from "./address-parts.js";

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

  it.each([".", "..", "\ud800"])("refuses %j, which is not a valid path segment", (text) => {
    expect(() => encodeSegment(text, "taskId")).toThrow("taskId cannot be used in a URL path");
  });
});

describe("withoutTrailingSlashes()", () => {
  it("removes slashes at the end only", () => {
    expect(["http://a//b///", "http://a", "//", ""].map(withoutTrailingSlashes)).toEqual(["http://a//b", "http://a", "", ""]);
  });
});
