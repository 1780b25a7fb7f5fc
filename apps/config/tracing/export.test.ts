import * as api from "@opentelemetry/api";
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { afterEach, describe, expect, test } from "vitest";
import { type Answer, type Collector, openCollector } from "../../../test/helpers/collector.js";
import { readTracing } from "./settings.js";
import { SpanQueue } from "./span-queue.js";
import { createContextManager, createProvider } from "./tracer.js";

/** Spans of the API on their way to a collector: OTLP/HTTP, "Failures" and "Retryable response codes". */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Exported {
  readonly collector: Collector;
  readonly tracer: api.Tracer;
  readonly queue: SpanQueue;
  readonly dropped: number[];
  readonly failing: (string | undefined)[];
}

async function exporting(
  answer?: (index: number) => Answer | undefined,
  env: { readonly [name: string]: string } = {},
): Promise<Exported> {
  const collector = await openCollector(answer);
  closing.push(() => collector.close());
  const { url, headers, timeoutMs, batch, resource, sampler } = readTracing({ endpoint: collector.url }, env);
  const dropped: number[] = [];
  const failing: (string | undefined)[] = [];
  const queue = new SpanQueue({
    // The shortest delay of the jitter.
    sender: { url, headers, timeoutMs, random: () => 0 },
    batch,
    resource,
    dropped: (count) => dropped.push(count),
    failing: (reason) => failing.push(reason),
  });
  closing.push(() => queue.close());
  let ids = 0;
  const newId = (bytes: number): string => (++ids).toString(16).padStart(bytes * 2, "0");
  const provider = createProvider({ api, sampler, now: Date.now, newId, ended: (span) => queue.add(span) });
  return { collector, tracer: provider.getTracer("koine"), queue, dropped, failing };
}

test("a span with everything the API offers arrives as OTLP", async () => {
  const { collector, tracer, queue } = await exporting();
  const parent = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", traceFlags: 1, isRemote: true };
  const span = tracer.startSpan(
    "work",
    {
      kind: SpanKind.SERVER,
      attributes: { text: "é", whole: 7, share: 0.5, is: true, many: ["a", "b"] },
      startTime: new Date(1_700_000_000_123),
    },
    trace.setSpanContext(ROOT_CONTEXT, parent),
  );
  span.addEvent("seen", { count: 2 }, [1_700_000_000, 500]).recordException(new Error("broken"), 1_700_000_000_124);
  span.addLink({ context: { ...parent, spanId: "00f067aa0ba902b8" }, attributes: { why: "cause" } });
  span.setStatus({ code: SpanStatusCode.ERROR, message: "no" }).updateName("worked");
  span.end([1_700_000_001, 5]);
  span.setAttribute("late", true);
  await queue.close();
  expect(collector.spans).toEqual([
    expect.objectContaining({
      traceId: parent.traceId,
      parentSpanId: parent.spanId,
      flags: 0x301,
      name: "worked",
      kind: 2,
      startTimeUnixNano: "1700000000123000000",
      endTimeUnixNano: expect.stringMatching(/^1700000001000000/),
      attributes: [
        { key: "text", value: { stringValue: "é" } },
        { key: "whole", value: { intValue: "7" } },
        { key: "share", value: { doubleValue: 0.5 } },
        { key: "is", value: { boolValue: true } },
        { key: "many", value: { arrayValue: { values: [{ stringValue: "a" }, { stringValue: "b" }] } } },
      ],
      events: [
        expect.objectContaining({ name: "seen", attributes: [{ key: "count", value: { intValue: "2" } }] }),
        expect.objectContaining({ name: "exception", timeUnixNano: "1700000000124000000" }),
      ],
      links: [expect.objectContaining({ spanId: "00f067aa0ba902b8" })],
      status: { code: 2, message: "no" },
    }),
  ]);
});

test("limits: attributes, events and links beyond them are counted", async () => {
  const { collector, tracer, queue } = await exporting();
  const span = tracer.startSpan("work");
  const context = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", traceFlags: 1 };
  for (let index = 0; index < 130; index++) span.setAttribute(`a${index}`, index).addEvent("e").addLink({ context });
  span.end();
  await queue.close();
  expect(collector.spans[0]).toMatchObject({ droppedAttributesCount: 2, droppedEventsCount: 2, droppedLinksCount: 2 });
});

describe("delivery", () => {
  test("a full batch leaves at once, and only its own spans", async () => {
    const { collector, tracer } = await exporting(undefined, { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2" });
    for (let index = 0; index < 3; index++) tracer.startSpan(`s${index}`).end();
    await expect.poll(() => collector.spans.map(({ name }) => name)).toEqual(["s0", "s1"]);
  });

  test.each([429, 503])("status %s is repeated after Retry-After, and everything arrives once", async (status) => {
    const { collector, tracer, queue, dropped, failing } = await exporting(
      (index) => (index === 0 ? { status, headers: { "retry-after": "1" } } : { status: 200 }),
      { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1" },
    );
    const before = performance.now();
    tracer.startSpan("work").end();
    await expect.poll(() => collector.spans.length, { timeout: 10_000 }).toBe(1);
    expect(performance.now() - before).toBeGreaterThan(990);
    await queue.close();
    expect([collector.requests.length, dropped, failing]).toEqual([2, [], []]);
  });

  test.each([400, 401, 307])("status %s is not repeated: the spans are dropped, counted and reported once", async (status) => {
    const { collector, tracer, queue, dropped, failing } = await exporting(
      (index) => (index < 2 ? { status, headers: { location: "http://127.0.0.1:9/" } } : { status: 200 }),
      { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1" },
    );
    for (const name of ["one", "two", "three"]) tracer.startSpan(name).end();
    await queue.close();
    expect(collector.spans.map(({ name }) => name)).toEqual(["three"]);
    expect([dropped, failing]).toEqual([
      [1, 1],
      [`status ${status}`, undefined],
    ]);
  });

  test("spans that the collector rejects are counted", async () => {
    const { tracer, queue, dropped } = await exporting(() => ({
      status: 200,
      body: JSON.stringify({ partialSuccess: { rejectedSpans: "1", errorMessage: "too old" } }),
    }));
    tracer.startSpan("work").end();
    await queue.close();
    expect(dropped).toEqual([1]);
  });

  test("a collector that does not answer fills the queue; what does not fit is dropped, and closing ends within its limit", async () => {
    const { tracer, queue, dropped, failing, collector } = await exporting(() => undefined, {
      OTEL_BSP_MAX_QUEUE_SIZE: "3",
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1",
    });
    for (let index = 0; index < 6; index++) tracer.startSpan("work").end();
    expect(dropped).toEqual([1, 1]); // one is being sent, three wait
    await expect.poll(() => collector.requests.length).toBe(1);
    await queue.close();
    expect([dropped.length, failing]).toEqual([6, ["no answer in time"]]);
    tracer.startSpan("late").end();
    expect(dropped.length).toBe(7);
  });
});

test("the active span continues across asynchronous work, and only there", async () => {
  const manager = createContextManager(api);
  const key = api.createContextKey("k");
  const context = ROOT_CONTEXT.setValue(key, 1);
  const inside = manager.with(context, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return manager.active().getValue(key);
  });
  expect([await inside, manager.active().getValue(key), manager.bind(context, () => manager.active().getValue(key))()]).toEqual([
    1,
    undefined,
    1,
  ]);
});
