import { createServer } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect, DiscoveryCache } from "../../src/index.js";
import { downgradeRefusal } from "../../src/protocols/anp/client/downgrade.js";
import { anp } from "../../src/protocols/anp/index.js";
import { createClientContext } from "../../src/protocols/client-context.js";
import { createMetrics, createTelemetry, prometheusText } from "../../src/telemetry/index.js";
import { DidDirectory, LOOPBACK } from "./directory.js";

/** A peer that is called by its DID, and somebody who offers less in its place. */

let directory: DidDirectory;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  directory = await DidDirectory.open();
});
afterAll(() => directory.close());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Answers GET with these documents, and counts everything else. */
async function served(documents: { readonly [path: string]: unknown }) {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    const found = documents[request.url ?? ""];
    if (request.method !== "GET") heard.push(`${request.method} ${request.url}`);
    response.writeHead(found === undefined || request.method !== "GET" ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  const did = `did:wba:localhost%3A${directory.port}:peer-${port}`;
  const service = [{ id: `${did}#ad`, type: "AgentDescription", serviceEndpoint: `http://127.0.0.1:${port}/ad.json` }];
  directory.put(did, JSON.stringify({ "@context": ["https://www.w3.org/ns/did/v1"], id: did, service }));
  return { did, heard };
}

async function refused(did: string) {
  const metrics = createMetrics();
  const telemetry = createTelemetry({ metrics });
  const peer = await connect(did, { protocols: [anp], settings: LOOPBACK, discoveryCache: new DiscoveryCache(), telemetry });
  closing.push(() => peer.close());
  const error = await peer.ask("secret").catch((thrown: unknown) => thrown);
  return { error, failures: /^\w*request_failures\w*\{.*\} (\d+)/im.exec(prometheusText(metrics.families()))?.[1] };
}

describe("a peer that is called by its DID", () => {
  test("gets nothing by the plain form that answers in its place", async () => {
    const card = { id: "x", name: "doctor", description: "d", protocol: "ANP" };
    const { did, heard } = await served({ "/.well-known/agent.json": card });
    const { error, failures } = await refused(did);
    expect(error).toMatchObject({ code: "downgrade_refused", facts: { sent: "no", detail: { reason: "plain_form" } } });
    expect(failures).toBe("1");
    expect(heard).toEqual([]);
  });

  test("gets nothing at an address without TLS that its description names", async () => {
    const methods = [{ name: "koine.send", params: [] }];
    const content = { openrpc: "1.3.2", methods, servers: [{ url: "http://192.0.2.1/anp/rpc" }] };
    const { did, heard } = await served({
      "/ad.json": {
        protocolType: "ANP",
        type: "AgentDescription",
        name: "desk",
        description: "d",
        interfaces: [{ type: "StructuredInterface", protocol: "openrpc", content }],
      },
    });
    const { error, failures } = await refused(did);
    expect(error).toMatchObject({ code: "downgrade_refused", facts: { sent: "no", detail: { reason: "plain_http" } } });
    expect(failures).toBe("1");
    expect(heard).toEqual([]);
  });
});

describe("an interface", () => {
  const WBA = "did:wba:agents.example:desk";
  const ALL = "did:all:15CY1EBSnGsP2pwJcPfs8A4de9tenmbp4r@agents.example";

  test.each([
    [WBA, "1.2", "JSONRPC", "https://agents.example/anp/rpc", undefined],
    [WBA, "1.2", "JSONRPC", "http://agents.example/anp/rpc", "plain_http"],
    [WBA, "1.2", "OPENRPC", "http://10.0.0.1/ad.json", "plain_http"],
    [WBA, "1.2", "DIRECT", "http://agents.example/rpc", "plain_http"],
    [WBA, "1.2", "JSONRPC", "http://127.0.0.1:1/anp/rpc", undefined],
    [WBA, "1.2", "WS", "ws://agents.example/anp/rpc", undefined],
    [WBA, "plain", "PLAIN", "https://agents.example", "plain_form"],
    [WBA, "plain", "WS", "wss://agents.example/ws", "plain_form"],
    [WBA, "legacy", "WS", "wss://agents.example/ws", "legacy_session"],
    [ALL, "legacy", "WS", "ws://agents.example/ws", undefined],
    [ALL, "plain", "WS", "ws://127.0.0.1:1/ws", "plain_form"],
    [undefined, "plain", "WS", "ws://agents.example/ws", undefined],
    [undefined, "1.2", "JSONRPC", "http://agents.example/anp/rpc", undefined],
  ])("for %s by %s %s at %s: %s", (...[calledDid, version, binding, url, reason]) => {
    const link = { exchange: () => Promise.reject(new Error("unused")), close: async () => undefined };
    const ids = { now: () => 0, newId: () => "id" };
    const peer = { url, version, binding, card: undefined as never };
    const refusal = downgradeRefusal({ ...createClientContext({ link, ids, calledDid }), peer });
    expect(refusal?.().facts.detail?.["reason"]).toBe(reason);
  });
});
