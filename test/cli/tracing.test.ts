import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attributeOf, type CollectedSpan, type Collector, openCollector } from "../helpers/collector.js";
import { createWorkspace, koine, outcomeOf, type Serving, seen, serving, startKoine, type Workspace } from "./koine.js";

/** Traces of the command line, as a collector receives them. SpanKind of OTLP: 2 is a server, 3 a client. */

const SERVER = 2;
const CLIENT = 3;
const SECRET = "Bearer s3cr3t-value";

let workspace: Workspace;
let collector: Collector;
const servers: Serving[] = [];
beforeEach(async () => {
  workspace = await createWorkspace();
  collector = await openCollector();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop("SIGKILL");
  await collector.close();
  await workspace.clear();
});

async function served(args: readonly string[], env: { readonly [name: string]: string } = {}): Promise<Serving> {
  const server = await serving([workspace.agent, ...args], env);
  servers.push(server);
  return server;
}

function spanOf(kind: number, service: string): CollectedSpan {
  const found = collector.spans.filter((span) => span.kind === kind && span.service === service);
  expect(found).toHaveLength(1);
  return found[0] as CollectedSpan; // one, as expected above
}

describe("the variables of OpenTelemetry", () => {
  test("switch tracing on: one trace, in which the server's span follows the client's", async () => {
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(SECRET)},x-tenant=blue`,
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test%2Fone",
    };
    const server = await served([], { ...variables, OTEL_SERVICE_NAME: "clerk" });
    const sent = await koine(["send", server.url, "hello", "-v"], { ...variables, OTEL_SERVICE_NAME: "desk" });
    expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining("wrote hello")]);
    await server.stop();
    const client = spanOf(CLIENT, "desk");
    const answered = spanOf(SERVER, "clerk");
    expect(answered).toMatchObject({ traceId: client.traceId, parentSpanId: client.spanId, status: { code: 0 } });
    // SpanFlags: the parent came from another process.
    expect((answered.flags ?? 0) & 0x300).toBe(0x300);
    expect(BigInt(answered.startTimeUnixNano) >= BigInt(client.startTimeUnixNano)).toBe(true);
    expect(BigInt(client.endTimeUnixNano) >= BigInt(client.startTimeUnixNano)).toBe(true);
    expect(attributeOf(client.attributes, "gen_ai.operation.name")).toBe("invoke_agent");
    for (const { url, headers, body } of collector.requests) {
      expect(url).toBe("/v1/traces");
      expect(headers).toMatchObject({ authorization: SECRET, "x-tenant": "blue", "content-type": "application/json" });
      expect(body).toContain("test/one");
      expect(body).not.toContain("s3cr3t");
    }
    expect(`${sent.stdout}${sent.stderr}`).not.toContain("s3cr3t");
  });

  test.each([
    ["no endpoint", {}],
    ["OTEL_SDK_DISABLED", { OTEL_SDK_DISABLED: "true" }],
    ["OTEL_TRACES_EXPORTER=none", { OTEL_TRACES_EXPORTER: "none" }],
    ["a sampler that takes nothing", { OTEL_TRACES_SAMPLER: "always_off" }],
  ])("export nothing with %s", async (what, more) => {
    const endpoint = what === "no endpoint" ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const server = await served([]);
    expect((await koine(["send", server.url, "hello"], { ...endpoint, ...more })).code).toBe(0);
    expect(collector.requests).toEqual([]);
  });

  test("an endpoint that is not usable is a usage error that does not show it", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://ann:s3cr3t@127.0.0.1:4318" };
    const { code, stderr } = await koine(["send", "http://127.0.0.1:9", "hello"], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining("must not contain a user or password")]);
    expect(stderr).not.toContain("s3cr3t");
  });
});

describe("switches", () => {
  test("--otlp-endpoint of send and serve; the answer is not affected by a collector that is gone", async () => {
    const server = await served(["--otlp-endpoint", `${collector.url}/`, "--metrics"]);
    const gone = await openCollector();
    await gone.close();
    const sent = await koine(["send", server.url, "hello", "--otlp-endpoint", gone.url]);
    expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining("wrote hello")]);
    expect(sent.stderr).toContain(`Traces cannot be exported to ${new URL(gone.url).host}: ECONNREFUSED`);
    await server.stop();
    expect(spanOf(SERVER, "koine").parentSpanId).toMatch(/^[0-9a-f]{16}$/);
  });

  test("tracing of koine.yaml: the gateway's spans link the caller with the upstream", async () => {
    const upstream = await served(["--otlp-endpoint", collector.url], { OTEL_SERVICE_NAME: "upstream" });
    const document = {
      listen: { port: 0 },
      admin: false,
      tracing: { endpoint: collector.url, serviceName: "front" },
      agents: [{ name: "clerk", upstream: upstream.url, mode: "relay" }],
    };
    const config = await workspace.write("koine.json", JSON.stringify(document));
    const gateway = startKoine(["gateway", config, "-o", "json"]);
    const ended = outcomeOf(gateway);
    const { url } = JSON.parse(await seen(gateway.stdout, /^\{.*\}$/m)) as { readonly url: string }; // the output of `gateway -o json`
    const sent = await koine(["send", url, "hello"]);
    expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining("wrote hello")]);
    gateway.kill("SIGTERM");
    expect((await ended).code).toBe(0);
    await upstream.stop();
    const [received, forwarded, answered] = [spanOf(SERVER, "front"), spanOf(CLIENT, "front"), spanOf(SERVER, "upstream")];
    expect(forwarded).toMatchObject({ traceId: received.traceId, parentSpanId: received.spanId });
    expect(answered).toMatchObject({ traceId: received.traceId, parentSpanId: forwarded.spanId });
  });
});
