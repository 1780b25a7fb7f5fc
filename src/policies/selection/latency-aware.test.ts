import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../test/helpers/clock.js";
import { AgentError, type Operation, startCall } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { LatencyAverage } from "./latency-average.js";
import { type LatencyAwareOptions, latencyAware } from "./latency-aware.js";
import { LatencyWindow } from "./latency-window.js";

const PING: Operation = { kind: "ping" };
const refused = new AgentError("unavailable", "refused", { sent: "no" });

function to(id: string): Destination {
  return { id, handler: async () => ({ kind: "done" }) };
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Plays calls one after the other; each takes as long as its destination does. */
function play(by: LatencyAwareOptions["by"], latencies: Record<string, () => number | AgentError>, calls: number) {
  let nowMs = 0;
  const selector = latencyAware({ by, clock: { ...fakeClock(), now: () => nowMs }, random: seeded(3) });
  const all = Object.keys(latencies).map(to);
  const counts: Record<string, number> = {};
  for (let n = 0; n < calls; n++) {
    const [first] = selector.order(all, PING, startCall()).order;
    if (first === undefined) throw new Error("somebody is always there");
    counts[first.id] = (counts[first.id] ?? 0) + 1;
    selector.callStarted?.(first);
    const took = latencies[first.id]?.() ?? 0;
    const afterMs = typeof took === "number" ? took : 1;
    nowMs += afterMs;
    selector.observe?.(
      first,
      typeof took === "number" ? { kind: "answered", afterMs } : { kind: "failed", afterMs, error: took },
    );
  }
  return counts;
}

describe.each(["ewma", "percentile"] as const)("latencyAware by %s", (by) => {
  it("sends more to faster destinations, and never starves slow ones", () => {
    const counts = play(by, { fast: () => 50, slow: () => 2_000 }, 2_000);
    expect(counts["slow"]).toBeGreaterThan(1);
    expect(counts["fast"]).toBeGreaterThan((counts["slow"] ?? 0) * 10);
  });

  it("counts failures as slow, however quickly they fail", () => {
    const counts = play(by, { sound: () => 50, broken: () => refused }, 500);
    expect(counts["sound"]).toBeGreaterThan((counts["broken"] ?? 0) * 10);
  });

  it("finds out when a slow one has become fast", () => {
    let calls = 0;
    const latencies = { steady: () => 300, healed: () => (++calls > 2 ? 10 : 2_000) };
    const counts = play(by, latencies, 2_000);
    expect(counts["healed"]).toBeGreaterThan(1_000);
  });

  it("tries a new destination with one message at a time", () => {
    const selector = latencyAware({ by, clock: fakeClock(), random: seeded(1) });
    const [known, fresh] = [to("known"), to("fresh")];
    selector.callStarted?.(known);
    selector.observe?.(known, { kind: "answered", afterMs: 100 });
    const first = () => selector.order([known, fresh], PING, startCall());
    expect(first()).toMatchObject({ order: [fresh, known], because: "not known yet" });
    selector.callStarted?.(fresh);
    expect(first().order[0]).toBe(known);
    selector.observe?.(fresh, { kind: "left" });
    expect(first().order[0]).toBe(fresh);
  });

  it("avoids a hanging destination before its first slow answer", () => {
    const selector = latencyAware({ by, clock: fakeClock(), random: seeded(1) });
    const [a, b] = [to("a"), to("b")];
    for (const [each, afterMs] of [
      [a, 50],
      [b, 80],
    ] as const) {
      selector.callStarted?.(each);
      selector.observe?.(each, { kind: "answered", afterMs });
    }
    const first = () => selector.order([a, b], PING, startCall()).order[0];
    expect(first()).toBe(a);
    selector.callStarted?.(a);
    expect(first()).toBe(b);
  });
});

describe("LatencyWindow", () => {
  const window = (percentile: number) => new LatencyWindow({ percentile, samples: 5, keepMs: 1_000, enough: 3 });

  it("is the nearest rank of the latest", () => {
    const [p50, p90] = [window(0.5), window(0.9)];
    for (const ms of [999, 15, 20, 35, 40, 50]) {
      p50.add(ms, 0);
      p90.add(ms, 0);
    }
    // Nearest rank of {15, 20, 35, 40, 50}: the 3rd is the median, the 5th the 90th percentile.
    expect([p50.value(1), p90.value(1)]).toEqual([35, 50]);
  });

  it("has no value with too few, and forgets by age", () => {
    const p50 = window(0.5);
    p50.add(10, 0);
    p50.add(30, 500);
    expect(p50.value(500)).toBeUndefined();
    p50.add(20, 600);
    expect(p50.value(600)).toBe(20);
    expect(p50.value(1_000)).toBeUndefined();
  });
});

describe("LatencyAverage", () => {
  it("weights a value one decay old by a third, and decays without new values", () => {
    const average = new LatencyAverage(1_000);
    expect(average.value(0)).toBeUndefined();
    average.add(100, 0);
    expect(average.value(1_000)).toBeCloseTo(100 / Math.E, 6);
    average.add(200, 1_000);
    expect(average.value(1_000)).toBeCloseTo(100 / Math.E + 200 * (1 - 1 / Math.E), 6);
  });

  it("counts all values of one moment", () => {
    const average = new LatencyAverage(1_000);
    average.add(0, 0);
    for (let n = 0; n < 50; n++) average.add(100, 0);
    expect(average.value(0)).toBeGreaterThan(99);
  });
});
