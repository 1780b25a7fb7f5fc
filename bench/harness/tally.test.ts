import { describe, expect, test } from "vitest";
import { joinSlices, startTally } from "./tally.js";

describe("startTally()", () => {
  test("counts the window only, and keeps ramp and drain for the CPU time", () => {
    let time = 1000;
    const tally = startTally({ rampMs: 10, windowMs: 100 }, () => time);
    const answerAt = (at: number, sentAt: number) => {
      time = at;
      return tally.record(sentAt);
    };
    answerAt(1005, 1000); // ramp
    answerAt(1010, 1008);
    for (let index = 0; index < 14; index++) answerAt(1050, 1046);
    expect(tally.open()).toBe(true);
    expect(answerAt(1109, 1103)).toBe(1109);
    answerAt(1110, 1100); // drain
    expect(tally.open()).toBe(false);
    const { variation, ...rest } = tally.slice();
    expect(rest).toEqual({ counted: 16, completed: 18, windowMs: 100, p50Us: 4000, p95Us: 6000, p99Us: 6000 });
    expect(variation).toBeCloseTo(0.176777, 6); // 2, fourteen times 4, 6: mean 4, deviation sqrt(8/16)
  });

  test("waits past the window for sixteen answers, and counts that time", () => {
    let time = 0;
    const tally = startTally({ rampMs: 0, windowMs: 100 }, () => time);
    for (time = 50; tally.open(); time += 50) tally.record(time - 50);
    const { counted, windowMs } = tally.slice();
    expect({ counted, windowMs }).toEqual({ counted: 16, windowMs: 800 });
  });

  test("waits for the requested number of answers", () => {
    let time = 0;
    const tally = startTally({ rampMs: 0, windowMs: 100, minAnswers: 40 }, () => time);
    for (time = 50; tally.open(); time += 50) tally.record(time - 50);
    expect(tally.slice().counted).toBe(40);
  });

  test("a slice without answers is a failure, not a zero", () => {
    expect(() => startTally({ rampMs: 0, windowMs: 50 }, () => 0).slice()).toThrow("no answer within 10050 ms");
  });
});

test("joinSlices() adds counts and times, and takes the median of latencies", () => {
  const slice = { counted: 10, completed: 12, windowMs: 10, p50Us: 100, p95Us: 200, p99Us: 300, variation: 0.5 };
  const slow = { counted: 5, completed: 6, windowMs: 11, p50Us: 300, p95Us: 400, p99Us: 500, variation: 0.7 };
  expect(joinSlices([slice, slow, slice])).toEqual({
    ...slice,
    counted: 25,
    completed: 30,
    windowMs: 31,
  });
});
