import { describe, expect, it } from "vitest";
import { HOSTILE, SIZE } from "../router/hostile-texts.js";
import { decideText } from "../router/scenarios.js";

/** CPU time of this process, in milliseconds: other processes do not count, and nothing else runs in this one. */
async function timeOf(text: string): Promise<number> {
  const before = process.cpuUsage();
  await decideText(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Below this time, the collector and the compiler are measured and not the code. */
const NOISE_MS = 50;
/** Twice the text takes twice the time of a linear reader, and four times that of a quadratic one. */
const LINEAR = 3;
/** The collector and the compiler only ever lengthen a reading, so the shortest of several is the most accurate. */
const ATTEMPTS = 20;

/** Whether the whole takes no more than its share of the time of the half. */
async function isLinear(half: string, whole: string): Promise<boolean> {
  let [shortestHalf, shortestWhole] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    shortestHalf = Math.min(shortestHalf, await timeOf(half));
    shortestWhole = Math.min(shortestWhole, await timeOf(whole));
    if (shortestWhole < LINEAR * Math.max(shortestHalf, NOISE_MS)) return true;
  }
  return false;
}

describe("a text of 100 kB", () => {
  for (const [what, textOf] of Object.entries(HOSTILE))
    it(`is read in linear time: ${what}`, async () => {
      expect(await isLinear(textOf(SIZE / 2), textOf(SIZE))).toBe(true);
    });
});
