import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { fakeClock } from "../../test/helpers/clock.js";
import { AgentError, type Layer } from "../envelope/index.js";
import { bearerTokens } from "../security/index.js";
import { type Agent, agent } from "../server/agent.js";
import { type Server, serve } from "../server/serve.js";
import { createMetrics, createTelemetry } from "../telemetry/index.js";
import { connect } from "./connect.js";
import { DiscoveryCache } from "./discovery-cache.js";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

const echo = (name = "echo"): Agent =>
  agent({ name, description: "says it again", handle: async (message) => `again: ${message.text}` });

async function serving(served: Agent = echo(), options: Parameters<typeof serve>[1] = {}): Promise<Server> {
  const server = await serve(served, options);
  cleanups.push(() => server.close());
  return server;
}

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
}

/** A server of our own making that writes down what it is asked. */
async function recording(answer: (request: Recorded, response: ServerResponse, all: readonly Recorded[]) => void) {
  const asked: Recorded[] = [];
  const server = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => {
      const request = {
        method: req.method ?? "",
        path: req.url ?? "",
        body: Buffer.concat(pieces).toString(),
        headers: req.headers,
      };
      asked.push(request);
      answer(request, res, asked);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  cleanups.push(
    () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** The card of an agent that says it speaks 1.0 over JSON-RPC at `url`. */
const cardAt = (url: string, version = "1.0") => ({
  name: "scripted",
  description: "d",
  version: "1",
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: version }],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "s", name: "s", description: "s", tags: ["t"] }],
});

const notFound = (id: unknown) => ({ jsonrpc: "2.0", id, error: { code: -32001, message: "no such task" } });
const reply = (res: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void => {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(value));
};

describe("connect()", () => {
  test("reports the interface in use and the evidence", async () => {
    const server = await serving();
    const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
    expect([peer.protocol, peer.version, peer.binding, peer.verified, peer.card.name]).toEqual([
      "a2a",
      "1.0",
      "JSONRPC",
      true,
      "echo",
    ]);
    expect(peer.evidence).toEqual([
      `agent card at ${server.url}/.well-known/agent-card.json (echo)`,
      `a probe of JSONRPC 1.0 at ${server.url}/a2a was answered in that version`,
    ]);
    await peer.close();
  });

  for (const pin of ["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@0.3/JSONRPC", "a2a@0.3/HTTP+JSON"]) {
    test(`can be pinned to ${pin}`, async () => {
      const server = await serving();
      const peer = await connect(server.url, { pin, discoveryCache: new DiscoveryCache() });
      expect(`${peer.protocol}@${peer.version}/${peer.binding}`).toBe(pin);
      expect(await peer.ask("hi")).toBe("again: hi");
      await peer.close();
    });
  }

  test("rejects a pin that no interface matches, and names the available ones", async () => {
    const server = await serving();
    await expect(connect(server.url, { pin: "a2a@9.9", discoveryCache: new DiscoveryCache() })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("a2a@1.0/JSONRPC, a2a@1.0/HTTP+JSON, a2a@0.3/JSONRPC"),
    });
  });

  test("distinguishes an unreachable peer from one with unknown protocols", async () => {
    const silent = await recording((_request, res) => reply(res, 404, { nothing: true }));
    await expect(connect(silent.url, { discoveryCache: new DiscoveryCache() })).rejects.toMatchObject({ code: "unsupported" });
    await expect(connect("http://127.0.0.1:1", { discoveryCache: new DiscoveryCache() })).rejects.toMatchObject({
      code: "unavailable",
      facts: { sent: "no" },
    });
  });

  test("rejects invalid URLs", async () => {
    for (const url of ["nonsense", "ftp://host/x", "http://user:secret@host/"]) {
      await expect(connect(url)).rejects.toMatchObject({ facts: { sent: "no", field: "url" } });
    }
  });

  test("caches the discovery result: a second connection sends nothing", async () => {
    const peerServer = await recording((request, res) => {
      if (request.method === "GET") reply(res, 200, cardAt(`${peerServer.url}/rpc`));
      else reply(res, 200, notFound(JSON.parse(request.body).id));
    });
    const discoveryCache = new DiscoveryCache();
    const first = await connect(peerServer.url, { discoveryCache });
    const asked = peerServer.asked.length;
    const second = await connect(peerServer.url, { discoveryCache });
    expect(peerServer.asked.length).toBe(asked);
    await Promise.all([first.close(), second.close()]);
  });

  test("does not use a discovery result of other credentials", async () => {
    const peerServer = await recording((request, res) => {
      if (request.method === "GET") reply(res, 200, cardAt(`${peerServer.url}/rpc`));
      else reply(res, 200, notFound(JSON.parse(request.body).id));
    });
    const discoveryCache = new DiscoveryCache();
    const first = await connect(peerServer.url, { discoveryCache });
    const asked = peerServer.asked.length;
    const second = await connect(peerServer.url, { discoveryCache, credentials: { bearer: "another-caller" } });
    expect(peerServer.asked.length).toBe(2 * asked);
    await Promise.all([first.close(), second.close()]);
  });

  test("revalidates an old discovery result by the card's ETag, and rediscovers when the card changed", async () => {
    let etag = '"1"';
    const peerServer = await recording((request, res) => {
      if (request.headers["if-none-match"] === etag) return void res.writeHead(304, { etag }).end();
      if (request.method === "GET") return reply(res, 200, cardAt(`${peerServer.url}/rpc`), { etag });
      return reply(res, 200, notFound(JSON.parse(request.body).id));
    });
    const clock = fakeClock(1_000);
    const discoveryCache = new DiscoveryCache({ resultMs: 60_000, results: 10 });
    const probes = (): number => peerServer.asked.filter(({ method }) => method === "POST").length;
    await (await connect(peerServer.url, { discoveryCache, clock })).close();
    expect(probes()).toBe(1);
    await clock.advance(60_001);
    const confirmed = await connect(peerServer.url, { discoveryCache, clock });
    expect(probes()).toBe(1);
    expect(confirmed.evidence.at(-1)).toBe(`the card at ${peerServer.url}/.well-known/agent-card.json has not changed`);
    await confirmed.close();
    etag = '"2"';
    await clock.advance(60_001);
    await (await connect(peerServer.url, { discoveryCache, clock })).close();
    expect(probes()).toBe(2);
  });

  test("discovers 0.3 where the card claims 1.0", async () => {
    const liar = await recording((request, res) => {
      if (request.method === "GET") return reply(res, 200, cardAt(`${liar.url}/rpc`));
      const { id, method } = JSON.parse(request.body);
      if (method === "tasks/get") return reply(res, 200, notFound(id));
      return reply(res, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
    });
    const peer = await connect(liar.url, { discoveryCache: new DiscoveryCache() });
    expect([peer.version, peer.verified]).toEqual(["0.3", true]);
    expect(peer.evidence.at(-1)).toBe(`the card does not list it, but a probe of JSONRPC 0.3 at ${liar.url}/rpc succeeded`);
    await peer.close();
  });

  test("falls back to another binding only when the first is unavailable", async () => {
    const server = await serving();
    const peerServer = await recording((request, res) => {
      if (request.method === "GET") {
        const card = cardAt(`${peerServer.url}/rpc`);
        const rest = { url: `${server.url}/a2a`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" };
        return reply(res, 200, { ...card, supportedInterfaces: [...card.supportedInterfaces, rest] });
      }
      const { id, method } = JSON.parse(request.body);
      // Proved at first; from the first send on it is another server.
      return method === "GetTask" ? reply(res, 200, notFound(id)) : reply(res, 404, { error: "gone" });
    });
    const peer = await connect(peerServer.url, { discoveryCache: new DiscoveryCache() });
    expect(peer.binding).toBe("JSONRPC");
    expect(await peer.ask("over there")).toBe("again: over there");
    expect(peer.binding).toBe("HTTP+JSON");
    await peer.close();
  });

  test("tries all interfaces, for one answer and for a stream", async () => {
    const server = await serving();
    const peerServer = await recording((request, res) => {
      if (request.method === "GET") {
        const at = (path: string) => ({ url: `${peerServer.url}${path}`, protocolBinding: "JSONRPC", protocolVersion: "1.0" });
        const last = { url: `${server.url}/a2a`, protocolBinding: "HTTP+JSON", protocolVersion: "0.3" };
        return reply(res, 200, { ...cardAt("http://unused"), supportedInterfaces: [at("/one"), at("/two"), at("/three"), last] });
      }
      const { id, method } = JSON.parse(request.body);
      return method === "GetTask" ? reply(res, 200, notFound(id)) : reply(res, 404, { error: "gone" });
    });
    const connected = () => connect(peerServer.url, { discoveryCache: new DiscoveryCache() });
    const [asked, streamed] = [await connected(), await connected()];
    expect(await asked.ask("hi")).toBe("again: hi");
    const kinds: string[] = [];
    for await (const event of streamed.stream("hi")) kinds.push(event.kind);
    expect(kinds).toEqual(["message"]);
    const sent = peerServer.asked.filter(({ body }) => body.includes("Message"));
    expect(sent.map(({ path }) => path)).toEqual(["/one", "/two", "/three", "/one", "/two", "/three"]);
    await Promise.all([asked.close(), streamed.close()]);
  });

  test("never resends a message that the peer may have acted on", async () => {
    const failing = await recording((request, res) => {
      if (request.method === "GET") {
        const card = cardAt(`${failing.url}/rpc`);
        const second = { url: `${failing.url}/other`, protocolBinding: "JSONRPC", protocolVersion: "1.0" };
        return reply(res, 200, { ...card, supportedInterfaces: [...card.supportedInterfaces, second] });
      }
      const { id, method } = JSON.parse(request.body);
      if (method === "GetTask") return reply(res, 200, notFound(id));
      if (request.path === "/rpc" && request.body.includes("reset")) return void res.socket?.destroy();
      return reply(res, 503, { error: "busy" });
    });
    const peer = await connect(failing.url, { discoveryCache: new DiscoveryCache() });
    await expect(peer.ask("reset")).rejects.toMatchObject({
      code: expect.stringMatching(/interrupted|unavailable/),
      facts: { sent: "maybe" },
    });
    await expect(peer.ask("busy")).rejects.toMatchObject({ code: "unavailable" });
    expect(failing.asked.filter(({ body }) => body.includes("SendMessage")).length).toBe(2);
    await peer.close();
  });

  test("selects by hint, by percentage and by card, without a restart", async () => {
    const seen: string[] = [];
    const server = await serving(agent({ name: "via", description: "d", handle: async () => "ok" }), {
      layers: [
        (next) => (operation, call) => {
          if (operation.kind === "send") seen.push(`${call.via.version}/${call.via.binding}`);
          return next(operation, call);
        },
      ],
    });
    let drawn = 0.05;
    const peer = await connect(server.url, { discoveryCache: new DiscoveryCache(), random: () => drawn });
    await peer.ask("by the card");
    await peer.ask("by hint", { hint: "a2a@0.3" });
    peer.share({ "a2a@0.3": 10 });
    await peer.ask("drawn below ten percent");
    drawn = 0.5;
    await peer.ask("drawn above");
    peer.share({});
    expect(seen).toEqual(["1.0/JSONRPC", "0.3/JSONRPC", "0.3/JSONRPC", "1.0/JSONRPC"]);
    await peer.close();
  });

  test("presents credentials to the peer's own origin only", async () => {
    const other = await recording((request, res) => reply(res, 200, notFound(JSON.parse(request.body).id)));
    const peerServer = await recording((_request, res) => reply(res, 200, cardAt(`${other.url}/rpc`)));
    const peer = await connect(peerServer.url, { discoveryCache: new DiscoveryCache(), credentials: { bearer: "top-secret" } });
    expect(peerServer.asked.map(({ headers }) => headers.authorization)).toContain("Bearer top-secret");
    expect(other.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    await peer.close();
  });

  test("is rejected without credentials and admitted with them", async () => {
    const server = await serving(echo(), { admission: bearerTokens(new Map([["alice", "a-token-for-this-test"]])) });
    const anonymous = await connect(server.url, { discoveryCache: new DiscoveryCache() });
    expect(anonymous.verified).toBe(false);
    await expect(anonymous.ask("hi")).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await anonymous.health()).toBe(false);
    const alice = await connect(server.url, {
      discoveryCache: new DiscoveryCache(),
      credentials: { bearer: "a-token-for-this-test" },
    });
    expect([alice.verified, await alice.ask("hi"), await alice.health()]).toEqual([true, "again: hi", true]);
    await Promise.all([anonymous.close(), alice.close()]);
  });

  test("health is true only after a real response", async () => {
    const server = await serve(echo());
    const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
    expect(await peer.health()).toBe(true);
    await server.close();
    expect(await peer.health()).toBe(false);
    await peer.close();
  });

  test("a ping uses the connection of the calls, outside policies and metrics, and ends when it is aborted", async () => {
    const server = await serve(echo());
    const metrics = createMetrics();
    const broken: Layer = () => () => Promise.reject(new AgentError("unavailable", "the circuit is open", { sent: "no" }));
    const peer = await connect(server.url, {
      discoveryCache: new DiscoveryCache(),
      telemetry: createTelemetry({ metrics }),
      layers: [broken],
    });
    await expect(peer.ask("hi")).rejects.toMatchObject({ message: "the circuit is open" });
    await peer.ping();
    expect(metrics.families().find(({ name }) => name === "MSG_BYTES")?.samples).toMatchObject([{ value: 0 }]);
    await expect(peer.ping(AbortSignal.abort())).rejects.toMatchObject({ code: "cancelled" });
    await server.close();
    await expect(peer.ping()).rejects.toMatchObject({ code: "unavailable" });
    await peer.close();
  });

  test("close waits for an active call", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await serving(
      agent({
        name: "slow",
        description: "d",
        async handle() {
          await held;
          return "done";
        },
      }),
    );
    const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
    const answer = peer.ask("wait");
    const closed = peer.close();
    setTimeout(release, 50);
    expect(await answer).toBe("done");
    await closed;
  });
});
