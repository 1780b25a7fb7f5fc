import { describe, expect, test } from "vitest";
import { SortedNames } from "./sorted-names.js";

/** A small generator with a seed, so that a run that failed can be had again. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("SortedNames", () => {
  test("equals a set sorted again each time, while it grows and shrinks", () => {
    const random = seeded(7);
    const names = new SortedNames();
    const kept = new Set<string>();
    for (const share of [0.9, 0.1, 0.6]) {
      for (let step = 0; step < 3_000; step++) {
        const name = `${random(5)}/${random(1_000)}`;
        if (random(100) >= share * 100) {
          names.delete(name);
          kept.delete(name);
        } else if (!kept.has(name)) {
          names.add(name);
          kept.add(name);
        }
      }
      const sorted = [...kept].sort();
      expect([...names.beginning("", "")]).toEqual(sorted);
      expect(names.first(4)).toEqual(sorted.slice(0, 4));
      for (const from of ["", "3/", "3/5", sorted[40] ?? "", "9"]) {
        const wanted = sorted.filter((name) => name.startsWith("3/") && name >= from);
        if (from === "" || from.startsWith("3/")) {
          expect([...names.beginning("3/", from === "" ? "3/" : from)]).toEqual(wanted);
        } else expect([...names.beginning("", from)]).toEqual(sorted.filter((name) => name >= from));
      }
    }
  });

  test("is empty when all are removed", () => {
    const names = new SortedNames();
    const all = Array.from({ length: 2_000 }, (_, n) => String(n));
    for (const name of all) names.add(name);
    for (const name of all) names.delete(name);
    names.delete("none");
    expect([names.first(1), [...names.beginning("", "")]]).toEqual([[], []]);
  });
});
