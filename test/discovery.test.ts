import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, mount, openRedisStore, serve } from "../src/index.js";
import { type CardTrust, cardSigner, newCardKey } from "../src/public/auth.js";
import { type Link, type Protocol, protocols } from "../src/public/protocols.js";
import { wholeBody } from "../src/transport/body.js";
import { poolLink } from "../src/transport/node/index.js";
import { openProtocols } from "./helpers/open-protocols.js";
import { redisAvailable, startRedis } from "./redis-server.js";

/** Discovery at one address with several protocols at once. */

const KEY = newCardKey("EdDSA", "house-1");
const TRUST: CardTrust = { keys: [{ name: "house", key: KEY.publicJwk }] };
const REQUIRED: CardTrust = { ...TRUST, require: true };
const echo = agent({ name: "echo", description: "says it again", handle: (message) => `again: ${message.text}` });

const withRedis = await redisAvailable();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A server that records its requests. */
async function answering(listener: RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function reply(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Our own server of one protocol that never answers the requests of other protocols. */
async function servingOnly(protocol: Protocol): Promise<string> {
  const mounted = mount(echo, { protocols: [protocol] });
  cleanups.push(() => mounted.close());
  const { url } = await answering(async (request, response) => {
    const { method = "GET", headers, url: path } = request;
    const body = method === "GET" || method === "HEAD" ? null : new Uint8Array(await bytesOf(request));
    const names = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    const answer = await mounted.fetch(new Request(`${url}${path}`, { method, headers: names, body }));
    if (answer.status === 404 || answer.status === 405) return;
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
  return url;
}

async function connected(url: string, options: Parameters<typeof connect>[1] = {}) {
  const peer = await connect(url, { discoveryCache: new DiscoveryCache(), ...options });
  cleanups.push(() => peer.close());
  return peer;
}

/** Longer than any test waits: a discovery that needs it was not ended in time. */
const FOR_EVER_MS = 120_000;

describe("a peer that answers one protocol and never the others", () => {
  test.each(openProtocols)("is resolved by $id without waiting for the rest", async (protocol) => {
    const peer = await connected(await servingOnly(protocol), { discoverMs: FOR_EVER_MS });
    expect([peer.protocol, peer.verified, await peer.ask("hi")]).toEqual([protocol.id, true, "again: hi"]);
  });
});

describe("a peer whose store does not answer", () => {
  test.runIf(withRedis)("is found by the same interfaces, in the same order", async () => {
    const redis = await startRedis();
    cleanups.push(async () => redis.stop());
    const store = await openRedisStore({ url: redis.url });
    cleanups.push(async () => store.close?.());
    const server = await serve(echo, { store, limits: { drainMs: 1 } });
    cleanups.push(() => server.close());
    const before = await connected(server.url);
    expect(await before.ask("hi")).toBe("again: hi");
    await redis.kill();
    const after = await connected(server.url);
    const wayOf = ({ protocol, version, binding }: typeof after) => `${protocol}@${version}/${binding}`;
    expect(wayOf(after)).toBe(wayOf(before));
    expect(after.interfaces).toEqual(before.interfaces);
    expect(after.evidence.join("; ")).toContain("it is unavailable");
  });
});

describe("a pinned interface", () => {
  /** Answers BeeAI ACP after a delay, and Agora only as the library does. */
  async function twofold(delayMs: number): Promise<string> {
    const { url } = await answering((request, response) => {
      if (request.method === "DELETE") return reply(response, 200, { status: "success" });
      const shown: { readonly [path: string]: unknown } = { "/ping": {}, "/agents": { agents: [{ name: "real" }] } };
      const found = shown[request.url ?? ""];
      const answer = () => reply(response, found === undefined ? 404 : 200, found ?? { detail: "Not Found" });
      setTimeout(answer, found === undefined ? 0 : delayMs);
    });
    return url;
  }

  test("is discovered although another was found before", async () => {
    const url = await twofold(0);
    const discoveryCache = new DiscoveryCache();
    expect((await connected(url, { discoveryCache })).protocol).toBe("acp");
    expect((await connected(url, { discoveryCache, pin: "agora" })).protocol).toBe("agora");
    expect((await connected(url, { discoveryCache })).protocol).toBe("acp");
  });

  test("is waited for although another answers earlier", async () => {
    const server = await serve(echo);
    cleanups.push(() => server.close());
    const pool = poolLink();
    cleanups.push(() => pool.close());
    const link: Link = {
      async exchange(request) {
        // Longer than discovery waits for late results.
        if (request.path === "/agents") await new Promise((resolve) => setTimeout(resolve, 1_500));
        return pool.exchange(request);
      },
      close: async () => undefined,
    };
    expect((await connected(server.url, { link, pin: "acp" })).protocol).toBe("acp");
  });
});

/** As the Python library's receiver: only the end of a conversation is answered. */
function likeTheLibrary(requests: string[]): RequestListener {
  return async (request, response) => {
    if (request.method === "DELETE" && request.url?.startsWith("/conversations/"))
      return reply(response, 200, { status: "success" });
    if (request.method !== "POST" || request.url !== "/") return void response.writeHead(404).end("<h1>Not Found</h1>");
    const { body } = JSON.parse((await bytesOf(request)).toString());
    if (body === undefined) return void response.writeHead(500).end("<h1>Internal Server Error</h1>");
    requests.push(body);
    reply(response, 200, { status: "success", body: `again: ${body}` });
  };
}

describe("a peer without any document", () => {
  test("is found by a request that neither starts nor ends anything", async () => {
    const requests: string[] = [];
    const { url } = await answering(likeTheLibrary(requests));
    const peer = await connected(url);
    expect([peer.protocol, peer.verified, requests]).toEqual(["agora", true, []]);
    expect(await peer.ask("hi")).toBe("again: hi");
    expect(requests).toEqual(["hi"]);
  });

  test("is not probed if another protocol was found", async () => {
    const server = await serve(echo, { protocols: protocols.filter(({ id }) => id === "acp") });
    cleanups.push(() => server.close());
    const pool = poolLink();
    cleanups.push(() => pool.close());
    const asked: string[] = [];
    const link: Link = {
      exchange(request) {
        asked.push(`${request.method} ${request.path}`);
        return pool.exchange(request);
      },
      close: async () => undefined,
    };
    expect((await connected(server.url, { link })).protocol).toBe("acp");
    expect(asked).toContain("GET /.well-known/agora");
    expect(asked.filter((line) => line.startsWith("DELETE"))).toEqual([]);
  });
});

describe("a card that claims an interface that does not answer", () => {
  test("ranks below an interface that answers", async () => {
    const { url } = await answering((request, response) => {
      const card = {
        name: "claims",
        description: "d",
        version: "1",
        supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
        capabilities: {},
        defaultInputModes: ["text/plain"],
        defaultOutputModes: ["text/plain"],
        skills: [],
      };
      const shown: { readonly [path: string]: unknown } = {
        "/.well-known/agent-card.json": card,
        "/ping": {},
        "/agents": { agents: [{ name: "real", description: "answers" }] },
      };
      const found = shown[request.url ?? ""];
      reply(response, found === undefined ? 404 : 200, found ?? { detail: "Not Found" });
    });
    const peer = await connected(url);
    expect([peer.protocol, peer.card.name, peer.verified]).toEqual(["acp", "real", true]);
  });
});

describe("with trusted keys", () => {
  async function signedHost(): Promise<string> {
    const server = await serve(echo, { cardKeys: [cardSigner({ key: KEY.privateJwk })] });
    cleanups.push(() => server.close());
    return server.url;
  }

  /** A connection that changes the card after a delay. */
  function tampering(delayMs: number): Link {
    const pool = poolLink();
    cleanups.push(() => pool.close());
    return {
      async exchange(request) {
        const response = await pool.exchange(request);
        if (!/\/agent(-card)?\.json$/.test(request.path) || response.status !== 200) return response;
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        const card = Buffer.from(await wholeBody(response.body, 1_000_000)).toString();
        return { status: 200, headers: response.headers, body: card.replace("says it again", "gives it away") };
      },
      close: async () => undefined,
    };
  }

  test.each([0, 300])("a changed card is refused although other protocols answer %i ms earlier", async (delayMs) => {
    const url = await signedHost();
    await expect(
      connect(url, { trust: TRUST, link: tampering(delayMs), discoveryCache: new DiscoveryCache() }),
    ).rejects.toMatchObject({
      code: "bad_signature",
    });
  });

  test("a signed host is called over signed interfaces only if a signature is required", async () => {
    const url = await signedHost();
    const peer = await connected(url, { trust: REQUIRED });
    expect([peer.protocol, peer.cardTrust, await peer.ask("hi")]).toEqual(["a2a", "verified", "again: hi"]);
    for (const pin of ["acp", "agora"]) {
      await expect(connect(url, { trust: REQUIRED, pin, discoveryCache: new DiscoveryCache() })).rejects.toMatchObject({
        code: "downgrade_refused",
      });
    }
  });

  test.each(openProtocols)("an unsigned peer that has $id only is refused if a signature is required", async (protocol) => {
    const server = await serve(echo, { protocols: [protocol] });
    cleanups.push(() => server.close());
    await expect(connect(server.url, { trust: REQUIRED, discoveryCache: new DiscoveryCache() })).rejects.toMatchObject({
      code: "downgrade_refused",
    });
    expect(await (await connected(server.url, { trust: TRUST })).ask("hi")).toBe("again: hi");
  });

  test("a peer without any document is refused too, after read-only requests", async () => {
    const { url, asked } = await answering(likeTheLibrary([]));
    await expect(connect(url, { trust: REQUIRED, discoveryCache: new DiscoveryCache() })).rejects.toMatchObject({
      code: "downgrade_refused",
    });
    expect(asked.filter((line) => !line.startsWith("GET"))).toEqual([]);
  });
});
