import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { configFrom, type Gateway, openGateway } from "../../apps/gateway/index.js";
import { agent, connect, DiscoveryCache, serve } from "../../src/index.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const SECRET = "the caller's own words";
const OPERATORS = [
  "/koine/api/messages",
  "/koine/api/feed",
  "/koine/api/state",
  "/koine/api/state/feed",
  "/koine/api/tasks",
  "/koine/api/session",
  "/metrics",
];

async function gatewayWith(more: object = {}): Promise<Gateway> {
  const upstream = await serve(agent({ name: "echo", description: "d", handle: ({ text }) => text }));
  closing.push(() => upstream.close());
  const document = {
    listen: { port: 0 },
    agents: [{ name: "echo", upstream: upstream.url }],
    metrics: true,
    limits: { drainMs: 1 },
    ...more,
  };
  const gateway = await openGateway(configFrom(document, { folder: "/nowhere", env: { ADMIN: "a-token-of-the-operator" } }));
  closing.push(() => gateway.close());
  return gateway;
}

/** A TCP proxy in a process of its own: it adds no header, and the gateway sees a loopback socket. */
async function proxyTo(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const program = `
    const { connect, createServer } = require("node:net");
    const server = createServer((near) => {
      const far = connect(${port}, "${hostname}");
      near.pipe(far).pipe(near);
      near.on("error", () => far.destroy());
      far.on("error", () => near.destroy());
    });
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const child: ChildProcess = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  closing.push(() => child.kill());
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return `http://127.0.0.1:${String(line).trim()}`;
}

/** Through a proxy the host name must be the gateway's own, as `proxy_pass` of nginx sends it. */
function get(url: string, path: string, host: string, headers: object = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { agent: false, headers: { host, ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("close", () => resolve({ status: response.statusCode ?? 0, text }));
      // Feeds do not end by themselves.
      if (response.headers["content-type"] === "text/event-stream") response.destroy();
    });
    asked.on("error", reject).end();
  });
}

async function callOnce(gateway: Gateway): Promise<void> {
  const peer = await connect(gateway.url, { discoveryCache: new DiscoveryCache() });
  expect(await peer.ask(SECRET)).toBe(SECRET);
  await peer.close();
}

describe("the operator's view", () => {
  it("is not on the callers' port, whatever proxy is in front", async () => {
    const gateway = await gatewayWith();
    await callOnce(gateway);
    const proxy = await proxyTo(gateway.url);
    for (const path of [...OPERATORS, "/koine/", "/koine/assets/main.js"]) {
      const { status, text } = await get(proxy, path, new URL(gateway.url).host);
      expect([path, status]).toEqual([path, 404]);
      expect(text).not.toContain(SECRET);
    }
    const health = await get(proxy, "/health", new URL(gateway.url).host);
    expect([health.status, JSON.parse(health.text)]).toEqual([200, { status: "ok" }]);
  });

  it("needs the token of its own listener, also through a proxy and for other users of this machine", async () => {
    const gateway = await gatewayWith({ admin: { token: { env: "ADMIN" } } });
    await callOnce(gateway);
    const { url = "" } = gateway.admin ?? {};
    const { host } = new URL(url);
    for (const address of [url, await proxyTo(url)])
      for (const path of [...OPERATORS, "/health"]) {
        const stranger = await get(address, path, host);
        expect([path, stranger.status]).toEqual([path, 401]);
        expect(stranger.text).not.toContain(SECRET);
        const operator = await get(address, path, host, { authorization: "Bearer a-token-of-the-operator" });
        expect([path, operator.status]).toEqual([path, 200]);
      }
    const messages = await get(url, "/koine/api/messages", host, { "x-koine-token": "a-token-of-the-operator" });
    expect(messages.text).toContain(SECRET);
  });

  it("is on the callers' port only by name, and needs the token there", async () => {
    const gateway = await gatewayWith({ admin: { listener: "callers", token: { env: "ADMIN" } } });
    await callOnce(gateway);
    expect(gateway.pageUrl).toBe(`${gateway.url}/koine/#token=a-token-of-the-operator`);
    const { host } = new URL(gateway.url);
    for (const path of OPERATORS) {
      const stranger = await get(gateway.url, path, host);
      expect([path, stranger.status]).toEqual([path, 401]);
      expect(stranger.text).not.toContain(SECRET);
      expect([path, (await get(gateway.url, path, host, { "x-koine-token": "a-token-of-the-operator" })).status]).toEqual([
        path,
        200,
      ]);
    }
    expect(JSON.parse((await get(gateway.url, "/health", host)).text)).toEqual({ status: "ok" });
  });

  it("is nowhere if it is off", async () => {
    const gateway = await gatewayWith({ admin: false, metrics: false });
    expect([gateway.admin, gateway.pageUrl]).toEqual([undefined, undefined]);
    for (const path of [...OPERATORS, "/koine/"])
      expect([path, (await fetch(`${gateway.url}${path}`)).status]).toEqual([path, 404]);
  });
});
