import { describe, expect, it } from "vitest";
import { PAIRS } from "./language-pairs.js";
import { decideText } from "./scenarios.js";

/** Phrases that the router does not understand yet. Remove one once it does. */
const KNOWN_MISSES: readonly string[] = [
  "handled by somebody else: the twin",
  "avoid: the twin",
  "a demand in the negative stays one: the need",
  "a later phase: the twin",
  "only: the twin",
];
/** The list must not grow elsewhere while one is removed. */
const RIGHT_AT_LEAST = 50;

const SIDES = PAIRS.flatMap(({ turn, need, twin }) => [
  { name: `${turn}: the need`, text: need[0], right: need[1] },
  { name: `${turn}: the twin`, text: twin[0], right: twin[1] },
]);

describe("needs, and the same words where they are not needs", () => {
  it("are distinguished, except for a few", async () => {
    const missed: string[] = [];
    for (const { name, text, right } of SIDES) if ((await decideText(text)).selected_protocol !== right) missed.push(name);
    expect(SIDES).toHaveLength(56);
    expect(SIDES.map(({ name }) => name)).toEqual(expect.arrayContaining([...KNOWN_MISSES]));
    expect(SIDES.length - missed.length, `not distinguished: ${missed.join("; ")}`).toBeGreaterThanOrEqual(RIGHT_AT_LEAST);
  });

  it("are not distinguished without detecting negation and stance", async () => {
    let right = 0;
    for (const side of SIDES)
      if ((await decideText(side.text, { without: ["stance"] })).selected_protocol === side.right) right++;
    expect(right).toBeLessThan(RIGHT_AT_LEAST);
  });
});
