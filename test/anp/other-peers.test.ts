import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { connect, DiscoveryCache, type Loss } from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";

/** Peers that have nothing of Koine: the seeds' plain server, and an agent with a method of its own in a list of its host. */

const servers: Server[] = [];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Answer = (body: Record<string, unknown>, url: string) => unknown;

/** Answers by method and path; everything else is not found. */
async function start(routes: { readonly [route: string]: Answer }): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const answer = routes[`${request.method} ${request.url}`];
    const url = `http://${request.headers.host}`;
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(answer === undefined ? "{}" : JSON.stringify(answer(text === "" ? {} : JSON.parse(text), url)));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

async function called(url: string, losses: Loss[] = []) {
  const peer = await connect(url, {
    protocols: [anp],
    discoveryCache: new DiscoveryCache(),
    onLoss: (loss) => losses.push(loss),
  });
  closing.push(() => peer.close());
  return peer;
}

describe("a server of the seeds", () => {
  test("is found by its card and called in the plain form", async () => {
    const heard: unknown[] = [];
    const url = await start({
      "GET /.well-known/agent.json": () => ({ id: "did:wba:x:anp", name: "doctor", description: "d", protocol: "ANP" }),
      "GET /health": () => ({ status: "healthy", protocol: "ANP" }),
      "POST /anp/message": (body) => {
        heard.push(body);
        const { request_id } = body;
        return {
          request_id,
          payload: { content: { text: "take a rest" }, context: {}, metadata: {} },
          timestamp: 1,
          type: "anp_response",
        };
      },
    });
    const peer = await called(url);
    expect([peer.binding, peer.card.name, await peer.health()]).toEqual(["PLAIN", "doctor", true]);
    expect(await peer.ask("I am tired", { session: "s-1", key: "k-1" })).toBe("take a rest");
    expect(heard).toEqual([
      expect.objectContaining({
        type: "anp_message",
        request_id: expect.any(String),
        source_id: expect.any(String),
        payload: expect.objectContaining({
          text: "I am tired",
          context: expect.objectContaining({ session_id: "s-1", idempotency_key: "k-1" }),
        }),
      }),
    ]);
    await expect(peer.getTask("t")).rejects.toMatchObject({ code: "unsupported_method" });
  });
});

describe("an agent in the list of its host", () => {
  test("is called by the method of its own that takes a text, with what is lost reported", async () => {
    const description = (url: string) => ({
      protocolType: "ANP",
      type: "Product",
      identifier: "did:wba:shop.example",
      name: "Shop",
      description: "sells",
      security: { didwba: {} },
      interfaces: [{ type: "StructuredInterface", protocol: "openrpc", url: `${url}/shop/interface.json` }],
    });
    const methods = [
      { name: "stock", params: [{ name: "limit", schema: { type: "integer" } }] },
      { name: "search", params: [{ name: "query", required: true, schema: { type: "string" } }] },
    ];
    const url = await start({
      "GET /.well-known/agent-descriptions": (_, at) => ({
        "@type": "CollectionPage",
        items: [{ name: "Shop", "@id": `${at}/shop/ad.json` }],
      }),
      "GET /shop/ad.json": (_, at) => description(at),
      "GET /shop/interface.json": (_, at) => ({ openrpc: "1.3.2", methods, servers: [{ url: `${at}/shop/rpc` }] }),
      "POST /shop/rpc": ({ id, method, params }) => ({ jsonrpc: "2.0", id, result: { method, params } }),
    });
    const losses: Loss[] = [];
    const peer = await called(url, losses);
    expect([peer.binding, peer.card.name]).toEqual(["OPENRPC", "Shop"]);
    const answer = await peer.send("shoes", { session: "s-1" });
    expect(answer).toMatchObject({ message: { content: [{ data: { method: "search", params: { query: "shoes" } } }] } });
    expect(losses.map(({ path }) => path)).toContain("context.sessionId");
    const named = await peer.send({ limit: 3 }, { intent: "stock" });
    expect(named).toMatchObject({ message: { content: [{ data: { method: "stock", params: { limit: 3 } } }] } });
    await expect(peer.start("shoes")).rejects.toMatchObject({ code: "unsupported" });
  });
});
