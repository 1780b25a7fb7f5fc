import { describe, expect, it } from "vitest";
import { PAIRS } from "./language-pairs.js";
import { decideText } from "./scenarios.js";

/** Turns of phrase that were not understood when this was written. Whoever teaches the router one takes it off this list. */
const KNOWN_MISSES: readonly string[] = [
  "handled by somebody else: the twin",
  "avoid: the twin",
  "a demand in the negative stays one: the need",
  "a later phase: the twin",
  "only: the twin",
];
/** Nobody may learn one by forgetting another. */
const RIGHT_AT_LEAST = 50;

const SIDES = PAIRS.flatMap(({ turn, need, twin }) => [
  { name: `${turn}: the need`, text: need[0], right: need[1] },
  { name: `${turn}: the twin`, text: twin[0], right: twin[1] },
]);

describe("needs, and the same words where they ask for nothing", () => {
  it("are distinguished, all but a few", async () => {
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
