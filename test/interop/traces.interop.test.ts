import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as api from "@opentelemetry/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTracing } from "../../apps/config/index.js";
import { type Collector, openCollector } from "../helpers/collector.js";
import { pythonFor, runScript } from "./python.js";

/** The published definition of OTLP reads what the commands export. */

const environment = "opentelemetry-proto-1.45.2";
let folder: string;
let collector: Collector;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-otlp-"));
  collector = await openCollector();
});
afterAll(async () => {
  await collector?.close();
  await rm(folder, { recursive: true, force: true });
});

test.skipIf(pythonFor(environment) === undefined)("spans with everything they can have", async () => {
  const request = { endpoint: collector.url, serviceName: "clerk" };
  const tracing = await openTracing(request, { env: {}, notify: () => undefined, dropped: () => undefined });
  const parent = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", traceFlags: 1, isRemote: true };
  const span = api.trace.getTracer("koine").startSpan(
    "work",
    {
      kind: api.SpanKind.CLIENT,
      attributes: { text: "é", whole: 7, share: 0.5, endless: Number.POSITIVE_INFINITY, is: true, many: ["a", "b"] },
      links: [{ context: { ...parent, spanId: "00f067aa0ba902b8" } }],
      startTime: new Date(1_700_000_000_123),
    },
    api.trace.setSpanContext(api.ROOT_CONTEXT, parent),
  );
  span.addEvent("seen", { count: 2 }).setStatus({ code: api.SpanStatusCode.ERROR, message: "no" });
  span.end();
  await tracing?.close();
  const file = join(folder, "request.json");
  await writeFile(file, collector.requests[0]?.body ?? "");
  expect(await runScript({ environment, file: "read_traces" }, file)).toEqual({
    spans: [
      {
        service: "clerk",
        scope: "koine",
        trace: parent.traceId,
        parent: parent.spanId,
        kind: "SPAN_KIND_CLIENT",
        start: 1_700_000_000_123_000_000,
        attributes: {
          text: { stringValue: "é" },
          whole: { intValue: "7" },
          share: { doubleValue: 0.5 },
          endless: { doubleValue: "Infinity" },
          is: { boolValue: true },
          many: { arrayValue: { values: [{ stringValue: "a" }, { stringValue: "b" }] } },
        },
        events: ["seen"],
        links: ["00f067aa0ba902b8"],
        status: ["STATUS_CODE_ERROR", "no"],
        flags: 0x301,
      },
    ],
  });
});
