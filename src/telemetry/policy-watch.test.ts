import { trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterAll, describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import type { PolicyNote } from "../policies/notes.js";
import { jsonLines } from "./log-lines.js";
import { createMetrics, type Metrics } from "./metrics.js";
import { policyWatch } from "./policy-watch.js";
import { createTelemetry, noTelemetry } from "./telemetry.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const about = { traceId: TRACE, destination: "translator", protocol: "p" };
const SECRET = new AgentError("unavailable", "Bearer abc was refused", { cause: new Error("key=abc") });

const decision: PolicyNote = {
  ...about,
  kind: "decision",
  policy: "weighted",
  among: ["translator", "b"],
  because: "it has weight",
};
const circuit = (from: "closed" | "open" | "half-open", to: typeof from): PolicyNote => ({
  ...about,
  kind: "circuit",
  from,
  to,
  because: "5 of 9 failed",
});
const hedge = (outcome: "fired" | "won" | "lost"): PolicyNote => ({ ...about, kind: "hedge", outcome, afterMs: 20.4 });
const backoff: PolicyNote = { ...about, kind: "backoff", attempt: 1, waitMs: 12.6, error: SECRET };
const retry: PolicyNote = { ...about, kind: "retry", attempt: 1, error: SECRET };
const gap: PolicyNote = { ...about, kind: "gap", first: 2, last: 3, waitMs: 100 };
const queue = (name: "bulkhead" | "ordering", depth: number): PolicyNote => ({ ...about, kind: "queue", queue: name, depth });

function values(metrics: Metrics, name: string): readonly unknown[] {
  const samples = metrics.families().find((family) => family.name === name)?.samples ?? [];
  return samples.map(
    (sample) => "value" in sample && [sample.edge.srcAgent, sample.edge.dstId, sample.edge.protocol, sample.value],
  );
}

describe("policyWatch", () => {
  test("counts decisions and hedges, and shows circuits as 0, 1, 2", () => {
    const metrics = createMetrics();
    const watch = policyWatch({ metrics, srcAgent: "planner" });
    for (const note of [decision, decision, hedge("fired"), hedge("won"), hedge("lost"), backoff, retry]) watch(note);
    watch({ ...decision, protocol: undefined });
    expect(values(metrics, "ROUTER_DECISIONS")).toEqual([
      ["planner", "translator", "p", 2],
      ["planner", "translator", "other", 1],
    ]);
    expect(values(metrics, "HEDGE_FIRES")).toEqual([["planner", "translator", "p", 1]]);
    for (const [from, to, figure] of [
      ["closed", "open", 2],
      ["open", "half-open", 1],
      ["half-open", "closed", 0],
    ] as const) {
      watch(circuit(from, to));
      expect(values(metrics, "CIRCUIT_STATE")).toEqual([["planner", "translator", "p", figure]]);
    }
  });

  test("the depth of all queues before one destination is their sum", () => {
    const metrics = createMetrics();
    const watch = policyWatch({ metrics, srcAgent: "planner" });
    for (const note of [queue("bulkhead", 3), queue("ordering", 2), queue("bulkhead", 1)]) watch(note);
    expect(values(metrics, "QUEUE_DEPTH")).toEqual([["planner", "translator", "p", 3]]);
    watch(queue("ordering", 0));
    watch(queue("bulkhead", 0));
    expect(values(metrics, "QUEUE_DEPTH")).toEqual([["planner", "translator", "p", 0]]);
  });

  test("every decision, hedge and breaker change is one line of JSON with its trace; of an error only the code", () => {
    const lines: string[] = [];
    const watch = policyWatch({
      log: jsonLines((text) => void lines.push(text)),
      srcAgent: "planner",
      now: () => 1_767_323_045_678,
    });
    for (const note of [decision, hedge("fired"), circuit("closed", "open"), backoff, retry, gap, queue("bulkhead", 9)])
      watch(note);
    expect(lines.every((line) => line.indexOf("\n") === line.length - 1)).toBe(true);
    const same = { time: "2026-01-02T03:04:05.678Z", trace_id: TRACE, src_agent: "planner", dst_id: "translator", protocol: "p" };
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        ...same,
        level: "info",
        event: "koine.decision",
        message: "weighted chose translator: it has weight",
        policy: "weighted",
        among: ["translator", "b"],
      },
      { ...same, level: "info", event: "koine.hedge", message: "hedge fired after 20 ms", outcome: "fired", after_ms: 20.4 },
      {
        ...same,
        level: "warn",
        event: "koine.circuit",
        message: "circuit changed from closed to open: 5 of 9 failed",
        from: "closed",
        to: "open",
      },
      {
        ...same,
        level: "info",
        event: "koine.backoff",
        message: "waiting 13 ms before attempt 1",
        attempt: 1,
        wait_ms: 12.6,
        error: "unavailable",
        face: "E_CONN",
      },
      {
        ...same,
        level: "info",
        event: "koine.retry",
        message: "attempt 1 started",
        attempt: 1,
        error: "unavailable",
        face: "E_CONN",
      },
      {
        ...same,
        level: "warn",
        event: "koine.gap",
        message: "messages 2 to 3 of a sequence did not arrive within 100 ms",
        first: 2,
        last: 3,
        wait_ms: 100,
      },
    ]);
    expect(lines.join("")).not.toContain("abc");
  });

  test("long texts are cut, a trace id from the wire cannot break a line, and a failing log is ignored", () => {
    const lines: string[] = [];
    const watch = policyWatch({ log: jsonLines((text) => void lines.push(text)), srcAgent: "planner" });
    watch({
      ...decision,
      traceId: `a\n${"b".repeat(9_000)}`,
      because: "c".repeat(9_000),
      among: Array.from({ length: 900 }, () => "d"),
    });
    expect(lines[0]?.indexOf("\n")).toBe((lines[0]?.length ?? 0) - 1);
    expect(lines[0]?.length).toBeLessThan(2_000);
    const full = policyWatch({
      srcAgent: "planner",
      log: () => {
        throw new Error("disk full");
      },
    });
    expect(() => full(decision)).not.toThrow();
  });

  test("hooks receive backoff and retry", () => {
    const told: object[] = [];
    const hooks = { onBackoff: (note: object) => void told.push(note), onRetry: (note: object) => void told.push(note) };
    const watch = createTelemetry({ hooks }).policies("planner");
    watch?.(backoff);
    watch?.(retry);
    watch?.(decision);
    const same = { edge: { srcAgent: "planner", dstId: "translator", protocol: "p" }, traceId: TRACE, attempt: 1, error: SECRET };
    expect(told).toEqual([{ ...same, waitMs: 12.6 }, same]);
  });

  test("without observers there is no sink", () => {
    expect([createTelemetry({}).policies("a"), noTelemetry.policies("a")]).toEqual([undefined, undefined]);
  });
});

describe("span events", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  afterAll(async () => {
    trace.disable();
    await provider.shutdown();
  });

  test("are added to the active span of the policy; without one nothing happens", () => {
    provider.register();
    const watch = createTelemetry({ tracing: true }).policies("planner");
    watch?.(decision);
    provider.getTracer("test").startActiveSpan("call", (span) => {
      for (const note of [decision, hedge("fired"), circuit("open", "half-open"), queue("bulkhead", 1)]) watch?.(note);
      span.end();
    });
    const [span] = exporter.getFinishedSpans();
    expect(span?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        "koine.decision",
        {
          message: "weighted chose translator: it has weight",
          "koine.destination": "translator",
          "koine.policy": "weighted",
          "koine.among": ["translator", "b"],
        },
      ],
      [
        "koine.hedge",
        {
          message: "hedge fired after 20 ms",
          "koine.destination": "translator",
          "koine.outcome": "fired",
          "koine.after_ms": 20.4,
        },
      ],
      [
        "koine.circuit",
        {
          message: "circuit changed from open to half-open: 5 of 9 failed",
          "koine.destination": "translator",
          "koine.from": "open",
          "koine.to": "half-open",
        },
      ],
    ]);
  });
});
