import { describe, expect, it } from "vitest";
import { CAPABILITIES, FACETS } from "./features.js";

describe("the canonical feature model", () => {
  it("has six facets, and every one has capabilities", () => {
    expect(Object.keys(FACETS)).toHaveLength(6);
    expect(new Set(CAPABILITIES.map(({ facet }) => facet))).toEqual(new Set(Object.keys(FACETS)));
  });

  it("names every capability once", () => {
    const ids = CAPABILITIES.map(({ id }) => id);
    const labels = CAPABILITIES.map(({ label }) => label);
    expect(new Set(ids).size).toBe(CAPABILITIES.length);
    expect(new Set(labels).size).toBe(CAPABILITIES.length);
    expect(ids.filter((id) => !/^[a-z]+(?:-[a-z]+)*$/.test(id))).toEqual([]);
  });

  it("marks the capabilities that exclude protocols: secrecy, identity, trust across organisations, streaming, long jobs", () => {
    const hard = CAPABILITIES.filter((each) => "hard" in each && each.hard).map(({ id }) => id);
    expect(hard).toEqual(
      expect.arrayContaining(["end-to-end-secrecy", "verified-identity", "cross-boundary", "streaming", "job-lifecycle"]),
    );
  });

  it("uses only words that a rationale may use", () => {
    expect(CAPABILITIES.filter(({ label, means }) => /\p{N}/u.test(label + means))).toEqual([]);
  });
});
