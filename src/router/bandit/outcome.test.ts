import { describe, expect, it } from "vitest";
import { rewardOf } from "./outcome.js";

describe("rewardOf()", () => {
  it("is zero for a failure and for a late answer", () => {
    expect(rewardOf({ ok: false, latencyMs: 0 })).toBe(0);
    expect(rewardOf({ ok: false, latencyMs: 5, deadlineMs: 1_000 })).toBe(0);
    expect(rewardOf({ ok: true, latencyMs: 1_001, deadlineMs: 1_000 })).toBe(0);
  });

  it("is from a half to one for a success, higher the faster", () => {
    const rewards = [0, 10, 100, 500, 1_000].map((latencyMs) => rewardOf({ ok: true, latencyMs, deadlineMs: 1_000 }));
    expect(rewards[0]).toBe(1);
    expect(rewards.at(-1)).toBe(0.5);
    expect(rewards).toEqual(rewards.toSorted((a, b) => b - a));
    expect(new Set(rewards).size).toBe(rewards.length);
  });

  it("measures against the deadline, and without one against half a minute", () => {
    expect(rewardOf({ ok: true, latencyMs: 50, deadlineMs: 100 })).toBe(
      rewardOf({ ok: true, latencyMs: 500, deadlineMs: 1_000 }),
    );
    expect(rewardOf({ ok: true, latencyMs: 400 })).toBe(rewardOf({ ok: true, latencyMs: 400, deadlineMs: 30_000 }));
    expect(rewardOf({ ok: true, latencyMs: 90_000 })).toBe(0.5);
  });

  it("can be met by a deadline of no time", () => {
    expect(rewardOf({ ok: true, latencyMs: 0, deadlineMs: 0 })).toBe(1);
  });

  for (const bad of [Number.NaN, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    it(`refuses a latency of ${bad}`, () => {
      expect(() => rewardOf({ ok: true, latencyMs: bad })).toThrowError(
        expect.objectContaining({ code: "invalid_message", facts: { field: "latencyMs" } }),
      );
    });
    it(`refuses a deadline of ${bad}`, () => {
      expect(() => rewardOf({ ok: true, latencyMs: 1, deadlineMs: bad })).toThrowError(
        expect.objectContaining({ code: "invalid_message", facts: { field: "deadlineMs" } }),
      );
    });
  }
});
