import { describe, expect, test } from "vitest";
import { CONFORMANCE_AREAS } from "../requirement.js";
import { requirements } from "./requirements.js";

describe("requirements", () => {
  test("ids are unique and well formed", () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids.length).toBe(new Set(ids).size);
    expect(ids.filter((id) => !/^anp:1\.2:[a-z]+:[\w-]+$/.test(id))).toEqual([]);
  });

  test.each(CONFORMANCE_AREAS)("%s is covered", (capability) => {
    expect(requirements.filter((each) => each.capability === capability).length).toBeGreaterThanOrEqual(3);
  });

  test("each names its source and describes the behaviour in one sentence", () => {
    expect(requirements.filter(({ behaviour, source }) => !/^["A-Z].*\.$/s.test(behaviour) || source.length < 5)).toEqual([]);
  });
});
