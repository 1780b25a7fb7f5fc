import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterEach, describe, expect, test } from "vitest";
import { agent, type ConnectOptions, connect, DiscoveryCache, type Server, serve } from "../../src/index.js";
import { type AuditEntry, bearerTokens } from "../../src/public/auth.js";
import { createMetrics, createTelemetry, type Metrics } from "../../src/public/telemetry.js";
import { openProtocols } from "../helpers/open-protocols.js";

/** Discovery and pings are no traffic: a server counts, traces and audits them as what they are. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const TOKEN = "a".repeat(24);
const echo = agent({ name: "echo", description: "repeats", handle: ({ text }) => text });

async function served(admitted: boolean) {
  const spans = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const metrics = createMetrics();
  const audited: AuditEntry[] = [];
  const server = await serve(echo, {
    telemetry: createTelemetry({ metrics, tracing: { tracer: provider.getTracer("koine") } }),
    audit: { record: (entry) => void audited.push(entry), close: async () => undefined },
    ...(admitted ? { admission: bearerTokens(new Map([["ann", TOKEN]])) } : {}),
  });
  closing.push(() => server.close());
  return { server, spans, metrics, audited };
}

async function reached({ url }: Server, options: ConnectOptions = {}) {
  const remote = await connect(url, { discoveryCache: new DiscoveryCache(), ...options });
  closing.push(() => remote.close());
  return remote;
}

/** The numbers of a metric, all labels together. */
function total(metrics: Metrics, name: string): number {
  const samples = metrics.families().find((family) => family.name === name)?.samples ?? [];
  return samples.reduce((sum, each) => sum + ("value" in each ? each.value : (each.cumulative.at(-1) ?? 0)), 0);
}

const COUNTED = ["REQUEST_LATENCY", "REQUEST_FAILURES", "MSG_BYTES", "MSG_BYTES_PAYLOAD", "MSG_BYTES_RETRY_OVERHEAD"];
const counts = (metrics: Metrics) => Object.fromEntries(COUNTED.map((name) => [name, total(metrics, name)]));
const NOTHING = Object.fromEntries(COUNTED.map((name) => [name, 0]));

describe("health checks", () => {
  test.each(openProtocols.map(({ id }) => id))(
    "three discoveries and pings by %s are neither calls, bytes nor spans",
    async (pin) => {
      const { server, metrics, spans } = await served(false);
      for (let round = 0; round < 3; round++) await (await reached(server, { pin })).ping();
      expect(counts(metrics)).toEqual(NOTHING);
      expect(spans.getFinishedSpans()).toEqual([]);
      const remote = await reached(server, { pin });
      expect(await remote.ask("hello")).toBe("hello");
      expect(counts(metrics)).toMatchObject({ REQUEST_LATENCY: 1, REQUEST_FAILURES: 0, MSG_BYTES_PAYLOAD: 10 });
      expect(spans.getFinishedSpans()).toHaveLength(1);
    },
  );

  test("a request that does something counts, however it is marked", async () => {
    const { server, metrics, spans } = await served(false);
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] };
    const response = await fetch(`${server.url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", "koine-probe": "1" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
    });
    const text = await response.text();
    expect(text).toContain("hello");
    expect(counts(metrics)).toMatchObject({ REQUEST_LATENCY: 1, MSG_BYTES_PAYLOAD: 10 });
    expect(total(metrics, "MSG_BYTES")).toBeGreaterThan(text.length);
    expect(spans.getFinishedSpans()).toHaveLength(1);
  });

  test("discovery without credentials is audited as a probe, wrong credentials as a refusal", async () => {
    const { server, audited } = await served(true);
    for (let round = 0; round < 3; round++) await reached(server);
    expect(new Set(audited.map(({ event }) => event))).toEqual(new Set(["probed"]));
    expect(audited[0]).toMatchObject({ who: "unknown", code: "unauthenticated" });

    audited.length = 0;
    await reached(server, { credentials: { bearer: "b".repeat(24) } });
    expect(new Set(audited.map(({ event }) => event))).toEqual(new Set(["refused"]));

    audited.length = 0;
    const unmarked = await fetch(`${server.url}/a2a`, { method: "POST", body: "{}" });
    expect(unmarked.status).toBe(401);
    expect(audited).toMatchObject([{ event: "refused" }]);
  });
});
