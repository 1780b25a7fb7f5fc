import { type AgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import type { JWK } from "jose";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { agent, connect, DiscoveryCache, type JsonObject, mount, type Server, serve } from "../src/index.js";
import { bearerTokens, type CardTrust, cardSigner, createCardCheck, newCardKey, signCard } from "../src/public/auth.js";
import type { Link } from "../src/public/protocols.js";
import { listen, poolLink } from "../src/transport/node/index.js";

/** Signed cards, and the extended card, over real connections. */

const ALICE = "a-token-for-alice-0123456789";
const BOB = "a-token-for-bob-01234567890";
const KEY = newCardKey("EdDSA", "acme-1");
const NEXT = newCardKey("ES256", "acme-2");
const TRUST: CardTrust = { keys: [{ name: "acme", key: KEY.publicJwk }], require: true };
const INTERFACES = ["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@0.3/JSONRPC", "a2a@0.3/HTTP+JSON"] as const;
/** gRPC serves the default agent only. */
const INTERFACES_OF_FIRST = [...INTERFACES, "a2a@1.0/GRPC", "a2a@0.3/GRPC"] as const;

const clerk = agent({
  name: "clerk",
  description: "Knows more than it says",
  handle: () => "yes",
  skills: [{ id: "files", name: "files", description: "Keeps files", tags: ["files"], security: [{ bearer: ["files.read"] }] }],
  extendedCard: ({ id }) =>
    id === "alice" ? { description: `told to ${id}`, iconUrl: "https://acme.example/i.png" } : undefined,
});
const plain = agent({ name: "plain", description: "Has one card only", handle: () => "yes" });

let server: Server;
beforeAll(async () => {
  server = await serve([clerk, plain], {
    admission: bearerTokens(
      new Map([
        ["alice", ALICE],
        ["bob", BOB],
      ]),
    ),
    cardKeys: [cardSigner({ key: KEY.privateJwk }), cardSigner({ key: NEXT.privatePem, kid: "acme-2" })],
  });
});
// The official SDK logs every invalid signature to the console.
const debug = vi.spyOn(console, "debug").mockReturnValue(undefined);
afterAll(async () => {
  debug.mockRestore();
  await server.close();
});

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}${path}`, { headers });
}

describe("a signed host", () => {
  it.each([
    ["/.well-known/agent-card.json", {}],
    ["/.well-known/agent-card.json", { "a2a-version": "1.0" }],
    ["/.well-known/agent-card.json", { "a2a-version": "0.3" }],
    ["/.well-known/agent.json", {}],
    ["/a2a/plain/.well-known/agent-card.json", {}],
  ])("signs %s %o with every key", async (path, headers) => {
    const bytes = new Uint8Array(await (await get(path, headers)).arrayBuffer());
    expect(await createCardCheck(TRUST)(bytes)).toEqual({ result: "verified", by: "acme" });
    const next = createCardCheck({ keys: [{ name: "next", key: NEXT.publicJwk }] });
    expect(await next(bytes)).toEqual({ result: "verified", by: "next" });
  });

  it.each([{}, { "a2a-version": "1.0" }])("is verified by the official SDK, requested with %o", async (headers) => {
    const card = (await (await get("/.well-known/agent-card.json", headers)).json()) as AgentCard;
    const keys: Record<string, JsonObject> = { "acme-1": KEY.publicJwk, "acme-2": NEXT.publicJwk };
    const verify = verifyAgentCardSignature(async (kid) => keys[kid] as JWK);
    await verify(card);
    await expect(verify({ ...card, description: "Says more than it knows" })).rejects.toThrow("No valid signatures");
  });

  it("signs once, so that the validator is stable", async () => {
    const first = await get("/.well-known/agent-card.json");
    const etag = first.headers.get("etag") ?? "";
    expect((await get("/.well-known/agent-card.json", { "if-none-match": etag })).status).toBe(304);
  });

  it("refuses at start what it cannot sign, and addresses that callers choose", async () => {
    const cardKeys = [cardSigner({ key: KEY.privateJwk })];
    const vague = agent({
      name: "vague",
      description: "x",
      handle: () => "",
      skills: [{ id: "a", name: "a", description: "", tags: [] }],
    });
    await expect(serve([plain, vague], { cardKeys })).rejects.toThrow("skills[0].description is empty");
    expect(() => mount(plain, { cardKeys })).toThrow("publicUrl");
    await mount(plain, { cardKeys, publicUrl: "https://acme.example" }).close();
  });
});

describe("a client", () => {
  it.each(INTERFACES_OF_FIRST)("verifies both cards over %s", async (pin) => {
    const peer = await connect(server.url, {
      pin,
      trust: TRUST,
      credentials: { bearer: ALICE },
      discoveryCache: new DiscoveryCache(),
    });
    expect(peer.cardTrust).toBe("verified");
    expect(peer.card.original?.verifiedBy).toBe("acme");
    expect(peer.evidence.at(-1)).toBe("the card is signed by acme, a trusted key");
    expect(peer.card.skills[0]?.security).toEqual([{ bearer: ["files.read"] }]);
    const extended = await peer.extendedCard();
    expect(extended).toMatchObject({ description: "told to alice", iconUrl: "https://acme.example/i.png" });
    expect(extended.original?.verifiedBy).toBe("acme");
    expect(extended.interfaces.filter(({ version }) => version === peer.version)).toEqual(
      peer.card.interfaces.filter(({ version }) => version === peer.version),
    );
    expect(extended.security).toEqual(peer.card.security);
    expect(extended.capabilities).toEqual(peer.card.capabilities);
    await peer.close();
  });

  it("without trusted keys reports only that it is signed", async () => {
    const peer = await connect(server.url, { credentials: { bearer: ALICE }, discoveryCache: new DiscoveryCache() });
    expect(peer.cardTrust).toBe("unknown");
    expect(peer.card.original?.verifiedBy).toBeUndefined();
    expect(peer.evidence.at(-1)).toContain('not by a trusted key (kid "acme-1"');
    await peer.close();
  });

  it("with other trusted keys does not reuse an earlier discovery result", async () => {
    const discoveryCache = new DiscoveryCache();
    const options = { credentials: { bearer: ALICE }, verdicts: discoveryCache };
    const first = await connect(server.url, { ...options, trust: TRUST });
    const other: CardTrust = { keys: [{ name: "other", key: newCardKey("EdDSA", "other").publicJwk }] };
    const second = await connect(server.url, { ...options, trust: other });
    expect([first.cardTrust, second.cardTrust]).toEqual(["verified", "unknown"]);
    await expect(connect(server.url, { ...options, trust: { ...other, require: true } })).rejects.toMatchObject({
      code: "downgrade_refused",
    });
    await Promise.all([first.close(), second.close()]);
  });

  it.each([
    ["an unsigned card", (card: JsonObject) => ({ ...card, signatures: undefined }), "downgrade_refused"],
    ["a changed card", (card: JsonObject) => ({ ...card, description: "Gives everything away" }), "bad_signature"],
  ])("refuses %s before any call", async (_, change, code) => {
    const document = change((await (await get("/.well-known/agent-card.json")).json()) as JsonObject);
    const asked: string[] = [];
    const liar = await listen(
      ({ method, path }) => {
        asked.push(`${method} ${path}`);
        return path === "/.well-known/agent-card.json"
          ? { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(document) }
          : { status: 404, headers: {}, body: "" };
      },
      { port: 0, host: "127.0.0.1" },
    );
    const pool = poolLink();
    const called: string[] = [];
    const link: Link = {
      ...pool,
      exchange(request) {
        called.push(`${request.method} ${request.target}`);
        return pool.exchange(request);
      },
      close: () => pool.close(),
    };
    await expect(connect(liar.url, { trust: TRUST, link, discoveryCache: new DiscoveryCache() })).rejects.toMatchObject({ code });
    // Every protocol may request its discovery documents; none sends a message, or probes an address of a card.
    expect(asked).toContain("GET /.well-known/agent-card.json");
    expect(asked.filter((request) => !request.startsWith("GET "))).toEqual([]);
    expect(called.filter((request) => !request.startsWith(`GET ${liar.url}/`))).toEqual([]);
    await link.close();
    await liar.close();
  });

  it("fetches a trusted key set, once", async () => {
    let fetched = 0;
    const keyServer = await listen(
      () => {
        fetched++;
        return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify({ keys: [KEY.publicJwk] }) };
      },
      { port: 0, host: "127.0.0.1" },
    );
    const jku = `${keyServer.url}/keys.json`;
    const signing = await serve(plain, { cardKeys: [cardSigner({ key: KEY.privateJwk, jku })] });
    const peer = await connect(signing.url, {
      trust: { trustedJku: [jku], require: true },
      discoveryCache: new DiscoveryCache(),
    });
    expect(peer.card.original?.verifiedBy).toBe(jku);
    await peer.initialize();
    expect(fetched).toBe(1);
    await expect(
      connect(signing.url, { trust: { trustedJku: [`${jku}?`], require: true }, discoveryCache: new DiscoveryCache() }),
    ).rejects.toMatchObject({ code: "downgrade_refused" });
    expect(fetched).toBe(1);
    await peer.close();
    await Promise.all([signing.close(), keyServer.close()]);
  });
});

describe("the extended card", () => {
  it("is verified as received, not as parsed", async () => {
    const json = { "content-type": "application/json" };
    const twofold = await listen(
      (request) => {
        const url = `http://${request.headers["host"]}`;
        const content = {
          name: "clerk",
          description: "x",
          version: "1",
          supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
          capabilities: { extendedAgentCard: true },
        };
        const signed = JSON.stringify({ ...content, signatures: signCard(content, cardSigner({ key: KEY.privateJwk })) });
        if (request.method === "GET") return { status: 200, headers: json, body: signed };
        const { id, method } = request.json() as JsonObject;
        const answer = method === "GetExtendedAgentCard" ? `"result":{"name":"evil",${signed.slice(1)}` : '"result":null';
        return { status: 200, headers: json, body: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer}}` };
      },
      { port: 0, host: "127.0.0.1" },
    );
    const peer = await connect(twofold.url, { trust: TRUST, discoveryCache: new DiscoveryCache() });
    expect(peer.cardTrust).toBe("verified");
    await expect(peer.extendedCard()).rejects.toThrow("has a duplicate member");
    await peer.close();
    await twofold.close();
  });

  const rpc = (method: string, token?: string): Promise<Response> =>
    fetch(`${server.url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} }),
    });

  it.each([
    ["GetExtendedAgentCard", "/a2a/extendedAgentCard"],
    ["agent/getAuthenticatedExtendedCard", "/a2a/v1/card"],
  ])("is not cached for other callers: %s, %s", async (method, path) => {
    for (const answer of [await rpc(method, ALICE), await get(path, { authorization: `Bearer ${ALICE}` })]) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("private, no-store");
      expect(JSON.stringify(await answer.json())).toContain("told to alice");
    }
    expect((await rpc(method)).status).toBe(401);
    expect((await get(path)).status).toBe(401);
  });

  it.each(INTERFACES)("is not available to every caller, nor for every agent, over %s", async (pin) => {
    const options = { pin, verdicts: new DiscoveryCache() };
    const bob = await connect(server.url, { ...options, credentials: { bearer: BOB } });
    await expect(bob.extendedCard()).rejects.toMatchObject({ code: "card_not_configured" });
    const other = await connect(`${server.url}/a2a/plain`, { ...options, credentials: { bearer: ALICE } });
    expect([bob.card.capabilities.extended, other.card.capabilities.extended]).toEqual([true, false]);
    await expect(other.extendedCard()).rejects.toMatchObject({ code: "unsupported" });
    await Promise.all([bob.close(), other.close()]);
  });

  it.each(INTERFACES_OF_FIRST)("is refused to anonymous callers of an open host, over %s", async (pin) => {
    const open = await serve(clerk);
    const peer = await connect(open.url, { pin, discoveryCache: new DiscoveryCache() });
    await expect(peer.extendedCard()).rejects.toMatchObject({ code: "unauthenticated" });
    await peer.close();
    await open.close();
  });

  it("carries the same signature as any card, over its exact content", async () => {
    const card = (await (await get("/a2a/extendedAgentCard", { authorization: `Bearer ${ALICE}` })).json()) as JsonObject;
    const { signatures, ...content } = card;
    expect(signatures).toHaveLength(4);
    expect(signCard(content, cardSigner({ key: KEY.privateJwk }))).toEqual((signatures as JsonObject[]).slice(0, 2));
  });
});
