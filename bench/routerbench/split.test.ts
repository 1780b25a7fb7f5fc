import { describe, expect, it } from "vitest";
import type { Case } from "./case.js";
import { halfOf } from "./split.js";

const LABELS = ["A2A", "ACP", "Agora", "ANP"];
/** Five levels, and six scenarios of each level and label. */
const CASES: readonly Case[] = [1, 2, 3, 4, 5].flatMap((level) =>
  LABELS.flatMap((label) =>
    Array.from({ length: 6 }, (_, index): Case => {
      const id = `S-${level}-${label}-${index}`;
      const modules = [{ id: `${id}-M1`, passages: [], label }];
      return { file: "a.jsonl", scenario: { id, level, description: "", modules }, modules };
    }),
  ),
);
const idsOf = (cases: readonly Case[]): readonly string[] => cases.map(({ scenario }) => scenario.id);

describe("halfOf()", () => {
  it("divides the scenarios in two, each level and label evenly", () => {
    const [dev, test] = [halfOf(CASES, "dev", 0), halfOf(CASES, "test", 0)];
    expect([...idsOf(dev), ...idsOf(test)].sort()).toEqual([...idsOf(CASES)].sort());
    for (const level of [1, 2, 3, 4, 5])
      for (const label of LABELS)
        expect(dev.filter(({ scenario, modules }) => scenario.level === level && modules[0]?.label === label)).toHaveLength(3);
  });

  it("depends on the seed and on nothing else", () => {
    expect(idsOf(halfOf(CASES.toReversed(), "dev", 0)).toSorted()).toEqual([...idsOf(halfOf(CASES, "dev", 0))].sort());
    expect(idsOf(halfOf(CASES, "dev", 1))).not.toEqual(idsOf(halfOf(CASES, "dev", 0)));
  });

  it("leaves none out where a stratum has one", () => {
    const odd = CASES.filter((_, index) => index % 6 === 0);
    expect([halfOf(odd, "dev", 0).length, halfOf(odd, "test", 0).length]).toEqual([10, 10]);
  });
});
