import { afterEach, describe, expect, test, vi } from "vitest";
import { configFrom, type Gateway, openGateway } from "../../apps/gateway/index.js";
import { agent, connect, DiscoveryCache, serve } from "../../src/index.js";
import { readOpenMetrics } from "../telemetry/open-metrics-grammar.js";

/** What an operator scrapes from a gateway, from its start on. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const NOTICED = { timeout: 15_000, interval: 50 };
const PIN = "acp@0.2/REST";
const echo = () => agent({ name: "echo", description: "repeats", handle: ({ text }) => text });
const POLICIES = {
  breaker: { minimumCalls: 2, openMs: 60_000 },
  bulkhead: true,
  retry: { tries: 2, firstWaitMs: 1, keys: true },
};

async function upstream(port = 0) {
  const server = await serve(echo(), { port, limits: { drainMs: 1 } });
  closing.push(() => server.close());
  return server;
}

async function gatewayOf(agents: readonly object[], more: object = {}): Promise<Gateway> {
  const document = { listen: { port: 0 }, agents, admin: {}, metrics: true, limits: { drainMs: 1 }, ...more };
  const gateway = await openGateway(configFrom(document, { folder: "/nowhere", env: {} }));
  closing.push(() => gateway.close());
  return gateway;
}

async function scraped({ admin }: Gateway, accept = "text/plain"): Promise<string> {
  const response = await fetch(`${admin?.url}/metrics`, { headers: { "x-koine-token": admin?.token ?? "", accept } });
  expect(response.status).toBe(200);
  return response.text();
}

/** The samples of one metric with their labels. */
function samplesOf(text: string, name: string): readonly string[] {
  return text.split("\n").filter((line) => line.startsWith(`${name}{`));
}

const edge = (id: string, protocol: string): string => `{src_agent="gateway",dst_id="${id}",protocol="${protocol}"}`;

describe("the metrics of a gateway", () => {
  test("exist from the start, with the protocol of the upstream", async () => {
    const server = await upstream();
    const gateway = await gatewayOf([{ name: "echo", upstream: server.url, pin: PIN, policies: POLICIES }]);
    const text = await scraped(gateway);
    for (const [name, value] of [
      ["UPSTREAM_UP", 1],
      ["CIRCUIT_STATE", 0],
      ["QUEUE_DEPTH", 0],
      ["REQUEST_RETRIES", 0],
    ])
      expect(samplesOf(text, String(name))).toEqual([`${name}${edge("echo", "acp")} ${value}`]);
  });

  test("follow an upstream that goes down and comes back, under the same labels as its calls", async () => {
    const server = await upstream();
    const gateway = await gatewayOf([{ name: "echo", upstream: server.url, pin: PIN, policies: POLICIES }]);
    const caller = await connect(`${gateway.url}/agents/echo`, { pin: "acp", discoveryCache: new DiscoveryCache() });
    closing.push(() => caller.close());
    expect(await caller.ask("hi")).toBe("hi");
    expect(samplesOf(await scraped(gateway), "REQUEST_FAILURES")).toContain(`REQUEST_FAILURES${edge("echo", "acp")} 0`);
    await server.close();
    await expect(caller.ask("hi")).rejects.toThrow();
    const text = await scraped(gateway);
    expect(samplesOf(text, "REQUEST_RETRIES")).toEqual([`REQUEST_RETRIES${edge("echo", "acp")} 1`]);
    expect(samplesOf(text, "CIRCUIT_STATE")).toEqual([`CIRCUIT_STATE${edge("echo", "acp")} 2`]);
    expect(samplesOf(text, "UPSTREAM_UP")).toEqual([`UPSTREAM_UP${edge("echo", "acp")} 0`]);
  });

  test("have an upstream that was never reached, as long as its protocol is unknown", async () => {
    const first = await upstream();
    const { port } = first;
    await first.close();
    const gateway = await gatewayOf([{ name: "echo", upstream: `http://127.0.0.1:${port}`, pin: PIN, policies: POLICIES }]);
    expect(samplesOf(await scraped(gateway), "UPSTREAM_UP")).toEqual([`UPSTREAM_UP${edge("echo", "other")} 0`]);
    await upstream(port);
    await vi.waitFor(
      async () => expect(samplesOf(await scraped(gateway), "UPSTREAM_UP")).toEqual([`UPSTREAM_UP${edge("echo", "acp")} 1`]),
      NOTICED,
    );
  });

  test("of an upstream that a reload removed are gone", async () => {
    const server = await upstream();
    const one = { name: "one", upstream: server.url, pin: PIN };
    const gateway = await gatewayOf([one, { ...one, name: "two" }]);
    expect(samplesOf(await scraped(gateway), "UPSTREAM_UP")).toHaveLength(2);
    const document = { listen: { port: 0 }, agents: [one], admin: {}, metrics: true, limits: { drainMs: 1 } };
    await gateway.reload(configFrom(document, { folder: "/nowhere", env: {} }));
    expect(samplesOf(await scraped(gateway), "UPSTREAM_UP")).toEqual([`UPSTREAM_UP${edge("one", "acp")} 1`]);
  });

  test("also have OpenMetrics names with namespace and unit, if configured", async () => {
    const server = await upstream();
    const agents = [{ name: "echo", upstream: server.url, pin: PIN, policies: POLICIES }];
    const gateway = await gatewayOf(agents, { metricNames: "both" });
    const caller = await connect(`${gateway.url}/agents/echo`, { pin: "acp", discoveryCache: new DiscoveryCache() });
    closing.push(() => caller.close());
    expect(await caller.ask("hi")).toBe("hi");
    const plain = await scraped(gateway);
    const open = await scraped(gateway, "application/openmetrics-text");
    const families = new Map(readOpenMetrics(open).map((family) => [family.name, family]));
    expect(families.get("koine_request_latency_seconds")).toMatchObject({ type: "histogram", unit: "seconds" });
    expect(families.get("koine_message_bytes")).toMatchObject({ type: "counter", unit: "bytes" });
    for (const [upper, name, sample] of [
      ["REQUEST_LATENCY_count", "koine_request_latency_seconds_count", "koine_request_latency_seconds_count"],
      ["REQUEST_FAILURES", "koine_request_failures_total", "koine_request_failures_total"],
      ["MSG_BYTES_PAYLOAD", "koine_message_payload_bytes_total", "koine_message_payload_bytes_total"],
      ["UPSTREAM_UP", "koine_upstream_up", "koine_upstream_up"],
    ] as const) {
      const values = samplesOf(plain, upper).map((line) => line.slice(upper.length));
      expect(values).not.toEqual([]);
      expect(samplesOf(plain, name).map((line) => line.slice(name.length))).toEqual(values);
      expect(samplesOf(open, sample)).toHaveLength(values.length);
    }
    expect(samplesOf(await scraped(await gatewayOf(agents)), "koine_upstream_up")).toEqual([]);
  });
});

describe("the map", () => {
  test("does not show an upstream as up whose breaker is open, also when the next call may try it", async () => {
    const server = await upstream();
    // Open for a millisecond: then a call may probe, and until one did, nobody knows.
    const policies = { breaker: { minimumCalls: 2, openMs: 1 } };
    const gateway = await gatewayOf([{ name: "echo", upstream: server.url, pin: PIN, policies }]);
    const nodeOf = () => gateway.console.state().nodes.find(({ id }) => id === "echo");
    expect(nodeOf()).toMatchObject({ health: "up" });
    const caller = await connect(gateway.url, { pin: "acp", discoveryCache: new DiscoveryCache() });
    closing.push(() => caller.close());
    await server.close();
    for (let call = 0; call < 3; call++) await expect(caller.ask("hi")).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(gateway.console.state().breakers).toMatchObject([{ state: "open" }]);
    expect(nodeOf()).toMatchObject({ health: "down" });
  });
});
