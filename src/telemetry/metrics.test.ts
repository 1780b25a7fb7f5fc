import { describe, expect, test } from "vitest";
import { createMetrics } from "./metrics.js";

const EDGE = { srcAgent: "planner", dstId: "translator", protocol: "p" };

function samplesOf(metrics: ReturnType<typeof createMetrics>, name: string): readonly unknown[] {
  return metrics.families().find((family) => family.name === name)?.samples ?? [];
}

describe("createMetrics", () => {
  test("one meter per edge", () => {
    const metrics = createMetrics();
    expect(metrics.edge({ ...EDGE })).toBe(metrics.edge(EDGE));
    expect(metrics.meter("planner", "translator", "p")).toBe(metrics.edge(EDGE));
    expect(metrics.edge({ ...EDGE, protocol: "q" })).not.toBe(metrics.edge(EDGE));
  });

  test("counts reported calls", () => {
    const metrics = createMetrics({ latencyBounds: [0.1, 1] });
    const meter = metrics.edge(EDGE);
    meter.observe(0.1);
    meter.observe(0.5);
    meter.observe(2);
    meter.fail();
    meter.bytes(10);
    meter.bytes(5);
    meter.payload(7);
    meter.overhead(3);
    expect(samplesOf(metrics, "REQUEST_LATENCY")).toEqual([{ edge: EDGE, cumulative: [1, 2, 3], sum: 2.6 }]);
    expect(samplesOf(metrics, "REQUEST_FAILURES")).toEqual([{ edge: EDGE, value: 1 }]);
    expect(samplesOf(metrics, "MSG_BYTES")).toEqual([{ edge: EDGE, value: 15 }]);
    expect(samplesOf(metrics, "MSG_BYTES_PAYLOAD")).toEqual([{ edge: EDGE, value: 7 }]);
    expect(samplesOf(metrics, "MSG_BYTES_RETRY_OVERHEAD")).toEqual([{ edge: EDGE, value: 3 }]);
  });

  test("beyond the limit everything is `other`, and the limit holds with it", () => {
    const metrics = createMetrics({ maxSeries: 3 });
    for (let index = 0; index < 50; index++) metrics.meter(`caller-${index}`, "translator", "p").fail();
    expect(samplesOf(metrics, "REQUEST_FAILURES")).toEqual([
      { edge: { srcAgent: "caller-0", dstId: "translator", protocol: "p" }, value: 1 },
      { edge: { srcAgent: "caller-1", dstId: "translator", protocol: "p" }, value: 1 },
      { edge: { srcAgent: "other", dstId: "other", protocol: "other" }, value: 48 },
    ]);
  });

  test("an address or an overlong text is no label", () => {
    const metrics = createMetrics();
    metrics.meter("a".repeat(129), "http://evil.test/x", "p").fail();
    metrics.meter("a".repeat(128), "translator", "p").fail();
    expect(samplesOf(metrics, "REQUEST_FAILURES")).toEqual([
      { edge: { srcAgent: "other", dstId: "other", protocol: "p" }, value: 1 },
      { edge: { srcAgent: "a".repeat(128), dstId: "translator", protocol: "p" }, value: 1 },
    ]);
  });

  test("names of object members are ordinary labels", () => {
    const metrics = createMetrics();
    metrics.meter("__proto__", "constructor", "toString").fail();
    expect(samplesOf(metrics, "REQUEST_FAILURES")).toEqual([
      { edge: { srcAgent: "__proto__", dstId: "constructor", protocol: "toString" }, value: 1 },
    ]);
  });

  test("more metrics by name, with the same labels and the same limit", () => {
    const metrics = createMetrics({ maxSeries: 2 });
    metrics.counter("HEDGE_FIRES", "hedges").edge(EDGE).add(2);
    metrics.counter("HEDGE_FIRES", "hedges").edge(EDGE).add(1);
    metrics.gauge("QUEUE_DEPTH", "waiting calls").edge(EDGE).set(4);
    metrics
      .gauge("QUEUE_DEPTH", "waiting calls")
      .edge({ ...EDGE, dstId: "b" })
      .set(5);
    expect(samplesOf(metrics, "HEDGE_FIRES")).toEqual([{ edge: EDGE, value: 3 }]);
    expect(samplesOf(metrics, "QUEUE_DEPTH")).toEqual([
      { edge: EDGE, value: 4 },
      { edge: { srcAgent: "other", dstId: "other", protocol: "other" }, value: 5 },
    ]);
  });

  test("refuses an invalid name and one registered with another type", () => {
    const metrics = createMetrics();
    metrics.counter("HEDGE_FIRES", "hedges");
    expect(() => metrics.counter("hedge fires", "")).toThrow('"hedge fires" is not a metric name');
    expect(() => metrics.gauge("HEDGE_FIRES", "")).toThrow("already registered");
    expect(() => metrics.counter("MSG_BYTES", "")).toThrow("already registered");
  });
});
