import { describe, expect, test } from "vitest";
import { orderOfRound, runSection } from "./rounds.js";

describe("orderOfRound()", () => {
  test("rotates, and runs backwards in every second round", () => {
    const orders = [0, 1, 2, 3, 4, 5, 6].map((round) => orderOfRound(["a", "b", "c"], round).join(""));
    expect(orders).toEqual(["abc", "cba", "bca", "acb", "cab", "bac", "abc"]);
  });
});

describe("runSection()", () => {
  test("interleaves the arms and keeps one measurement per round", async () => {
    const seen: string[] = [];
    const arm = (name: string) => ({
      name,
      measure: async () => {
        seen.push(name);
        return { perSecond: seen.length };
      },
    });
    const rows = await runSection({ name: "s", arms: [arm("a"), arm("b")], again: (done) => done < 2 });
    expect(seen.join("")).toBe("abba");
    expect(rows).toEqual([
      { section: "s", arm: "a", series: [{ perSecond: 1 }, { perSecond: 4 }] },
      { section: "s", arm: "b", series: [{ perSecond: 2 }, { perSecond: 3 }] },
    ]);
  });

  test("calls back before each round with the measurements so far", async () => {
    const rows = await runSection({
      name: "s",
      arms: [{ name: "a", measure: async () => ({}) }],
      again: (_done, [row]) => (row?.series.length ?? 0) < 4,
    });
    expect(rows[0]?.series.length).toBe(4);
  });
});
