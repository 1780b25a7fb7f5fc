import { describe, expect, test } from "vitest";
import { AgentError, type AgentEvent, type Handler, NO_META, type Operation, startCall } from "../envelope/index.js";
import { createMetrics, type Metrics } from "./metrics.js";
import { createTelemetry } from "./telemetry.js";

const EDGE = { srcAgent: "planner", dstId: "translator", protocol: "p" };
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const done: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 2 } };

function send(traceId?: string): Operation {
  const envelope = { id: "m", ts: 1, src: "a", dst: "b", intent: "", role: "user", content: [], meta: NO_META } as const;
  return { kind: "send", envelope: { ...envelope, context: { traceId } }, delivery: "answer", task: "auto" };
}

function exemplarsOf(metrics: Metrics): readonly unknown[] {
  const [sample] = metrics.families().find(({ name }) => name === "REQUEST_LATENCY")?.samples ?? [];
  return sample !== undefined && "exemplars" in sample ? [...(sample.exemplars ?? [])] : [];
}

/** Each call takes 40 ms on the clock. */
function watched(side: "client" | "server") {
  const metrics = createMetrics({ latencyBounds: [0.01, 0.1], now: () => 5_000 });
  let nowMs = 0;
  const telemetry = createTelemetry({ metrics, now: () => (nowMs += 40) });
  const layer = side === "client" ? telemetry.client(EDGE) : telemetry.server();
  const handler = (answer: Handler): Handler => layer?.(answer) ?? answer;
  return { metrics, telemetry, handler };
}

describe.each(["client", "server"] as const)("the exemplars of a %s", (side) => {
  test.each([
    ["the trace that the call continues", send("another"), `00-${TRACE}-00f067aa0ba902b7-01`],
    ["else the one that the message names", send("4bf92f35-77b3-4da6-a3ce-929d0e0e4736"), undefined],
  ])("%s", async (_what, operation, traceparent) => {
    const { metrics, handler } = watched(side);
    await handler(async () => done)(operation, startCall({ parameters: traceparent === undefined ? {} : { traceparent } }));
    expect(exemplarsOf(metrics)).toEqual([undefined, { traceId: TRACE, value: 0.04, atMs: 5_000 }]);
  });

  test("a call that fails is one, too; one without a trace, or with a text that is none, is not", async () => {
    const { metrics, handler } = watched(side);
    await handler(async () => done)(send(), startCall());
    await handler(async () => done)(send("my own text ".repeat(1_000)), startCall());
    expect(exemplarsOf(metrics)).toEqual([]);
    const failing = handler(() => Promise.reject(new AgentError("unavailable", "no")));
    await expect(failing(send(TRACE), startCall())).rejects.toThrow("no");
    expect(exemplarsOf(metrics)).toMatchObject([undefined, { traceId: TRACE }]);
  });
});

test("a scraper gets the requested format", async () => {
  const { telemetry, handler } = watched("client");
  await handler(async () => done)(send(TRACE), startCall());
  const open = telemetry.metricsPage("application/openmetrics-text; version=1.0.0");
  expect(open.contentType).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
  expect(open.text).toContain(`,le="0.1"} 1 # {trace_id="${TRACE}"} 0.04 5\n`);
  const plain = telemetry.metricsPage(undefined);
  expect(plain).toEqual({ contentType: "text/plain; version=0.0.4; charset=utf-8", text: telemetry.metricsText() });
});
