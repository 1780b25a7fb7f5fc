import { describe, expect, it } from "vitest";
import { describeReplayGuard } from "../../../test/helpers/stores/replay-contract.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import { createReplayGuard } from "./memory-guard.js";

const START = Date.parse("2026-03-01T12:00:00Z");

describeReplayGuard("in memory", {
  open: async (limits, now) => [createReplayGuard({ limits, now, knownSinceMs: 0 })],
});

describe("a replay guard without memory of what was before", () => {
  it("refuses messages that a process before it may have accepted", () => {
    const guard = createReplayGuard({ limits: DEFAULT_LIMITS, now: () => START });
    expect(() => guard.add("ann", "n", START + 330_000, START - 1)).toThrow("before the start");
    expect(guard.add("ann", "n", START + 330_000, START)).toBe(true);
  });

  it("refuses messages of unknown age for six minutes", () => {
    let nowMs = START;
    const guard = createReplayGuard({ limits: DEFAULT_LIMITS, now: () => nowMs });
    nowMs = START + 359_999;
    expect(() => guard.add("ann", "n", nowMs + 1_000)).toThrow(
      expect.objectContaining({ code: "unavailable", facts: { retryAfterMs: 1 } }),
    );
    nowMs = START + 360_000;
    expect(guard.add("ann", "n", nowMs + 1_000)).toBe(true);
  });
});

describe("a replay guard that is full", () => {
  it("keeps a signer that fills its share from shutting out others", () => {
    const guard = createReplayGuard({ limits: DEFAULT_LIMITS, now: () => START, knownSinceMs: 0 });
    for (let n = 0; n < 50_000; n++) guard.add("ann", `n${n}`, START + 60_000);
    expect(() => guard.add("ann", "more", START + 60_000)).toThrow(expect.objectContaining({ code: "overloaded" }));
    expect(guard.add("bob", "n", START + 60_000)).toBe(true);
    expect(guard.add("ann", "n0", START + 60_000)).toBe(false);
  });
});
