import { once } from "node:events";
import { connect as dial } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { AgentError, agent, connect, DiscoveryCache, mount, type RemoteAgent, type Server, serve } from "../../src/index.js";
import { cancelFrom } from "../../src/public/protocols.js";
import {
  type CapturedMessage,
  type CapturedMessageSummary,
  type CaptureLimits,
  type FeedItem,
  followFeed,
  type InspectedHost,
  type Inspector,
  type InspectorRouteOptions,
  inspectorRoutes,
} from "../../src/telemetry/capture/index.js";
import { noTelemetry } from "../../src/telemetry/index.js";
import { poolLink } from "../../src/transport/node/index.js";
import { ADMIN_TOKEN, inspecting, inspectorOf, newInspector } from "./served.js";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

interface Stage {
  readonly inspector: Inspector;
  readonly server: Server;
  readonly peer: RemoteAgent;
}

async function stage(limits: Partial<CaptureLimits> = {}, options: InspectorRouteOptions = {}): Promise<Stage> {
  const inspector = newInspector(limits);
  const echo = agent({
    name: "echo",
    description: "d",
    handle: ({ text }) => (text === "bad" ? Promise.reject(new Error("no")) : text),
  });
  const server = await serve(echo, { ...inspecting(inspector, options) });
  const peer = await connect(server.url, { discoveryCache: new DiscoveryCache(), pin: "a2a@1.0/JSONRPC" });
  open.push(server, peer);
  return { inspector, server, peer };
}

/** A reader over HTTP, until the end of the test. */
function host(server: Server): InspectedHost {
  const stop = new AbortController();
  const link = poolLink();
  open.push(link, { close: () => stop.abort(new AgentError("cancelled", "the test is over")) });
  return { link, ...inspectorOf(server), cancel: cancelFrom(stop.signal) };
}

function ask(server: Server, path: string, more = {}): Promise<Response> {
  const { url, headers } = inspectorOf(server);
  return fetch(`${url}/koine${path}`, { headers: { ...headers, ...more } });
}

const read = async <T>(server: Server, path: string, headers = {}): Promise<T> =>
  (await (await ask(server, `/api${path}`, headers)).json()) as T;

/** The next completed messages of a feed, each once. */
async function finished(feed: AsyncGenerator<FeedItem>, count: number): Promise<readonly CapturedMessage[]> {
  const found = new Map<string, CapturedMessage>();
  while (found.size < count) {
    const { value } = await feed.next();
    if (value?.kind === "message" && value.message.operation === "send" && value.message.status !== "open")
      found.set(value.message.id, value.message);
  }
  return [...found.values()];
}

async function connected(feed: AsyncGenerator<FeedItem>): Promise<void> {
  expect((await feed.next()).value).toEqual({ kind: "connected" });
}

describe("reading", () => {
  test("lists, shows one message, and shows a trace", async () => {
    const { server, peer } = await stage();
    await peer.ask("first");
    await peer.ask("second");
    const { messages } = await read<{ messages: readonly CapturedMessageSummary[] }>(
      server,
      "/messages?text=SECOND&direction=in",
    );
    expect(messages).toMatchObject([{ text: "second", agent: "echo", status: "ok", eventCount: 1 }]);
    expect(messages[0]).not.toHaveProperty("request");
    const id = messages[0]?.id;
    expect(await read<CapturedMessage>(server, `/messages/${id}`)).toMatchObject({
      id,
      envelope: { content: { text: "second" } },
    });
    expect(await read<readonly CapturedMessage[]>(server, `/traces/${messages[0]?.traceId}`)).toMatchObject([{ id }]);
    const before = await read<{ messages: readonly CapturedMessageSummary[] }>(
      server,
      `/messages?before=${messages[0]?.seq}&text=s`,
    );
    expect(before.messages.map(({ text }) => text)).toEqual(["first"]);
  });

  test("an invalid filter is an error, and not ignored", async () => {
    const { server } = await stage();
    for (const path of ["/messages?direction=up", "/messages?limit=many", "/feed?status=good"])
      expect([path, (await ask(server, `/api${path}`)).status]).toEqual([path, 400]);
  });

  test("is on the admin listener, for holders of its token", async () => {
    const { server, peer } = await stage();
    await peer.ask("hello");
    for (const path of ["/api/messages", "/api/feed", "/api/traces/x"]) {
      expect([path, (await fetch(`${server.url}/koine${path}`)).status]).toEqual([path, 404]);
      for (const headers of [{}, { authorization: "Bearer another-token-of-this-test" }, { "x-koine-token": "" }]) {
        const refused = await fetch(`${server.admin?.url}/koine${path}`, { headers });
        expect([path, refused.status, refused.headers.get("www-authenticate")]).toEqual([path, 401, "Bearer"]);
        expect(await refused.text()).not.toContain("hello");
      }
    }
    expect((await ask(server, "/api/messages")).status).toBe(200);
  });

  test("is never on the callers' port by mistake", async () => {
    const echo = agent({ name: "echo", description: "d", handle: ({ text }) => text });
    const routes = inspectorRoutes(newInspector().log);
    await expect(serve(echo, { routes })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("admin.routes"),
    });
    expect(() => mount(echo, { routes })).toThrow("admin.routes");
  });

  test.each<[string, InspectorRouteOptions]>([
    ["who may not look", { authorize: () => false }],
    ["a guard that breaks", { authorize: () => Promise.reject(new Error("broken")) }],
  ])("%s gets the same response as at an unknown address", async (_who, options) => {
    const { server, peer } = await stage({}, options);
    await peer.ask("hello");
    for (const path of ["/messages", "/feed", "/traces/x"]) {
      const refused = await ask(server, `/api${path}`);
      const nothing = await ask(server, "/nothing");
      expect([path, refused.status]).toEqual([path, nothing.status]);
      expect(await refused.json()).toEqual({
        error: { code: "E_HTTP", reason: "not_found", message: `No route for GET /koine/api${path}` },
      });
    }
  });
});

describe("following", () => {
  test("streams matching messages only", async () => {
    const { server, peer } = await stage();
    const feed = followFeed(host(server), { text: "this" });
    await connected(feed);
    await peer.ask("that");
    await peer.ask("this one");
    expect((await finished(feed, 1)).map(({ text }) => text)).toEqual(["this one"]);
  });

  test("resumes after its cursor, and reports a gap", async () => {
    const { server, peer, inspector } = await stage({ sightings: 3 });
    const first = followFeed(host(server), {});
    await connected(first);
    await peer.ask("one");
    const [seen] = await finished(first, 1);
    await first.return(undefined);
    await peer.ask("two");
    const [last] = inspector.log.list({}, 1);
    const cursor = followFeed(host(server), {}, (last?.seq ?? 0) - 1);
    await connected(cursor);
    expect((await finished(cursor, 1)).map(({ text }) => text)).toEqual(["two"]);
    for (const text of ["three", "four", "five"]) await peer.ask(text);
    const late = followFeed(host(server), {}, seen?.seq);
    await connected(late);
    expect((await late.next()).value).toEqual({ kind: "gap", missed: 1 });
    expect((await finished(late, 3)).map(({ text }) => text)).toEqual(["three", "four", "five"]);
  });

  test("continues with a restarted gateway", async () => {
    const { server, peer, inspector } = await stage();
    const feed = followFeed(host(server), {});
    await connected(feed);
    await peer.ask("before");
    expect(await finished(feed, 1)).toHaveLength(1);
    inspector.close();
    await server.close();
    expect((await feed.next()).value).toMatchObject({ kind: "cut" });
    const restarted = newInspector();
    const { admin, telemetry = noTelemetry } = inspecting(restarted);
    const again = await serve(agent({ name: "echo", description: "d", handle: ({ text }) => text }), {
      telemetry,
      admin: { ...admin, port: Number(new URL(server.admin?.url ?? "").port) },
    });
    open.push(again);
    const other = await connect(again.url, { discoveryCache: new DiscoveryCache(), pin: "a2a@1.0/JSONRPC" });
    open.push(other, restarted);
    await other.ask("after");
    expect((await finished(feed, 1)).map(({ text }) => text)).toEqual(["after"]);
  });

  test("limits its readers, and refuses one more", async () => {
    const { server } = await stage({ readers: 1 });
    await connected(followFeed(host(server), {}));
    const refused = await ask(server, "/api/feed");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  });

  test("a reader that does not read delays no call, and memory stays bounded", async () => {
    const { server, peer, inspector } = await stage({ sightings: 50, totalBytes: 200_000 });
    const { host: authority, port } = new URL(server.admin?.url ?? "");
    const socket = dial(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(`GET /koine/api/feed?whole=1 HTTP/1.1\r\nHost: ${authority}\r\nx-koine-token: ${ADMIN_TOKEN}\r\n\r\n`);
    await once(socket, "readable");
    const text = "y".repeat(20_000);
    for (let count = 0; count < 200; count++) expect(await peer.ask(text)).toBe(text);
    expect(inspector.log.size).toBe(50);
    const kept = inspector.log.list({}, 100).map(({ id }) => JSON.stringify(inspector.log.get(id)).length);
    expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThan(400_000);
    socket.destroy();
  });

  test("of nothing is refused", async () => {
    const { server } = await stage({}, { authorize: () => false });
    await expect(followFeed(host(server), {}).next()).rejects.toMatchObject({ code: "not_found" });
  });
});
