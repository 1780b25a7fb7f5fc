import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import {
  agent,
  type BridgedAgent,
  type BridgeSettings,
  bridge,
  connect,
  DiscoveryCache,
  mount,
  type RemoteAgent,
  type Server,
  serve,
} from "../../src/index.js";
import { bridgedAgent } from "../../src/internal.js";
import { readCard } from "../../src/protocols/a2a/card/card.js";
import { type AuditEntry, bearerTokens, cardSigner, createCardCheck, newCardKey } from "../../src/public/auth.js";
import { protocols } from "../../src/public/protocols.js";

/** An agent's card through a gateway, as any client reads it over HTTP. */

const AGENTS_KEY = newCardKey("EdDSA", "agent-1");
const GATEWAYS_KEY = newCardKey("ES256", "gateway-1");
const a2aOnly = protocols.filter(({ id }) => id === "a2a");
const TRAITS = { streaming: true, tasks: true, inputTurns: true };
const trusting = (name: string, { publicJwk }: typeof AGENTS_KEY) => createCardCheck({ keys: [{ name, key: publicJwk }] });
const byAgent = trusting("agent", AGENTS_KEY);
const byGateway = trusting("gateway", GATEWAYS_KEY);

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

const upstreamAgent = agent({
  name: "caller-name",
  description: "tells",
  handle: (message) => `told ${message.text}`,
  extendedCard: ({ id }) => ({ description: `tells ${id} more` }),
});

async function bytesAt(url: string, headers: Record<string, string> = {}): Promise<Uint8Array> {
  return new Uint8Array(await (await fetch(url, { headers })).arrayBuffer());
}
const CARD = "/.well-known/agent-card.json";

/** A bridge to an agent that has a card and is never called. */
function unreached(bytes: Uint8Array, settings: BridgeSettings): BridgedAgent {
  const card = readCard(JSON.parse(new TextDecoder().decode(bytes)), bytes);
  const handler = () => Promise.reject(new Error("is not called"));
  const upstream = { handler, protocol: () => "a2a", traits: () => TRAITS, card: () => card };
  return bridgedAgent(upstream, { signed: false, upstreamUrls: ["http://inner.cluster.local:1"] }, settings);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The URL of a signed agent, whose card names `publicUrl`. */
async function signedUpstream(publicUrl?: string): Promise<string> {
  const cardKeys = [cardSigner({ key: AGENTS_KEY.privateJwk })];
  const upstream = opened(
    await serve(upstreamAgent, { cardKeys, ...(publicUrl === undefined ? {} : { publicUrl, names: ["127.0.0.1"] }) }),
  );
  return `http://127.0.0.1:${upstream.port}`;
}

describe("verbatim", () => {
  async function started(): Promise<{ readonly server: Server; readonly direct: string; readonly notes: readonly string[] }> {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const direct = await signedUpstream(publicUrl);
    const bridged = opened(
      await bridge(direct, { discoveryCache: new DiscoveryCache(), bridge: { name: "front", card: "verbatim", publicUrl } }),
    );
    return { server: opened(await serve(bridged, { port, publicUrl })), direct, notes: bridged.notes };
  }

  test("serves the agent's document byte for byte in every version, and its signature stays valid", async () => {
    const { server, direct, notes } = await started();
    const theirs = await bytesAt(`${direct}${CARD}`);
    for (const version of [{}, { "a2a-version": "1.0" }, { "a2a-version": "0.3" }])
      expect(await bytesAt(`${server.url}${CARD}`, version)).toEqual(theirs);
    expect(await byAgent(await bytesAt(`${server.url}${CARD}`))).toEqual({ result: "verified", by: "agent" });
    expect(await byAgent(await bytesAt(`${server.url}/.well-known/agent.json`))).toEqual({ result: "verified", by: "agent" });
    expect(notes).toEqual([expect.stringContaining("served verbatim")]);
  });

  test("changes no space, escape or order of members", async () => {
    const text = `{ "version": "1",  "name": "Caf\\u00e9",\n\t"description": "\\/",
      "supportedInterfaces": [{ "url": "https:\\/\\/gateway.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }] }\n`;
    const bytes = new TextEncoder().encode(text);
    const publicUrl = "https://gateway.example";
    const host = opened(
      mount(unreached(bytes, { name: "front", card: "verbatim", publicUrl }), { publicUrl, protocols: a2aOnly }),
    );
    const response = await host.fetch(new Request(new URL(CARD, publicUrl)));
    expect(await response.text()).toBe(text);
  });

  test("leads clients through the gateway, and the upstream agent is called", async () => {
    const { server } = await started();
    const trust = { keys: [{ name: "agent", key: AGENTS_KEY.publicJwk }], require: true };
    for (const pin of ["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@1.0/GRPC", "a2a@0.3/JSONRPC"]) {
      const peer = opened(await connect(server.url, { pin, trust, discoveryCache: new DiscoveryCache() }));
      expect([peer.cardTrust, await peer.ask("it")]).toEqual(["verified", "told it"]);
    }
  });

  test("is refused at start if the card bypasses the gateway", async () => {
    const direct = await signedUpstream();
    const settings = { card: "verbatim", publicUrl: "http://gateway.example" } as const;
    await expect(bridge(direct, { discoveryCache: new DiscoveryCache(), bridge: settings })).rejects.toThrow("past this gateway");
  });
});

describe("rewrite+resign and rewrite+strip", () => {
  test("the gateway signs its own card, and the agent's signature is gone", async () => {
    const direct = await signedUpstream();
    const bridged = opened(await bridge(direct, { discoveryCache: new DiscoveryCache(), bridge: { signsCards: true } }));
    const server = opened(await serve(bridged, { cardKeys: [cardSigner({ key: GATEWAYS_KEY.privateJwk })] }));
    const bytes = await bytesAt(`${server.url}${CARD}`);
    expect(await byGateway(bytes)).toEqual({ result: "verified", by: "gateway" });
    expect((await byAgent(bytes)).result).toBe("unknown");
    expect(bridged.notes).toEqual([]);
  });

  test("a removed signature is noted, counted and audited", async () => {
    const direct = await signedUpstream();
    const bridged = opened(await bridge(direct, { discoveryCache: new DiscoveryCache() }));
    const audited: AuditEntry[] = [];
    const audit = { record: (entry: AuditEntry) => void audited.push(entry), close: async () => undefined };
    const server = opened(await serve(bridged, { audit }));
    expect((await byAgent(await bytesAt(`${server.url}${CARD}`))).result).toBe("unsigned");
    expect(bridged.notes).toEqual([expect.stringContaining("its signatures were removed")]);
    expect(bridged.losses.losses()).toMatchObject([{ path: "card.signatures", count: 1 }]);
    expect(audited).toMatchObject([{ event: "downgrade", agent: "caller-name", reason: expect.stringContaining("removed") }]);
  });
});

describe("a rewritten card", () => {
  const host = fc.constantFrom("inner.cluster.local", "10.1.2.3", "[fd00::7]", "127.0.0.1");
  const port = fc.integer({ min: 1, max: 65_535 });
  const path = fc
    .array(fc.constantFrom("a2a", "deep", "v1", "tenants", "x%20y"), { maxLength: 4 })
    .map((all) => all.map((each) => `/${each}`).join(""));
  const url = fc
    .tuple(fc.constantFrom("http", "https"), host, port, path, fc.constantFrom("", "/"))
    .map(([scheme, name, at, below, end]) => `${scheme}://${name}:${at}${below}${end}`);
  const interfaces = fc.array(
    fc.record({
      url,
      protocolBinding: fc.constantFrom("JSONRPC", "HTTP+JSON", "GRPC"),
      protocolVersion: fc.constantFrom("1.0", "0.3"),
      tenant: fc.option(fc.constantFrom("t1", "t2"), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 4 },
  );
  const publicUrl = fc
    .tuple(
      fc.constantFrom("https://gateway.example", "http://[2001:db8::1]:8080", "https://gateway.example:8443"),
      path,
      fc.constantFrom("", "/"),
    )
    .map(([origin, below, end]) => `${origin}${below}${end}`);

  test("has only addresses of the gateway, no duplicate paths, and no address of the upstream host", async () => {
    const made = fc.record({ interfaces, publicUrl, legacy: url });
    await fc.assert(
      fc.asyncProperty(made, async ({ interfaces: supportedInterfaces, publicUrl: gatewayUrl, legacy }) => {
        const document = JSON.stringify({
          name: "Anybody",
          description: "is anywhere",
          version: "1",
          url: legacy,
          protocolVersion: "0.3.0",
          supportedInterfaces,
          documentationUrl: supportedInterfaces.at(-1)?.url,
          iconUrl: legacy,
          provider: { organization: "o", url: supportedInterfaces[0]?.url },
          capabilities: {},
          defaultInputModes: ["text/plain"],
          defaultOutputModes: ["text/plain"],
          skills: [{ id: "s", name: "s", description: "s", tags: ["s"] }],
        });
        const bridged = unreached(new TextEncoder().encode(document), { publicUrl: gatewayUrl });
        const host = mount(bridged, { publicUrl: gatewayUrl, protocols: a2aOnly });
        try {
          const response = await host.fetch(new Request(new URL(CARD, gatewayUrl)));
          const served: unknown = JSON.parse(await response.text());
          const base = gatewayUrl.replace(/\/$/, "");
          const addresses = addressesIn(served);
          expect(addresses.length).toBeGreaterThan(1);
          for (const address of addresses) {
            expect(address.startsWith(`${base}/`)).toBe(true);
            expect(address.slice(base.length)).toMatch(/^\/a2a$/);
          }
        } finally {
          await host.close();
        }
      }),
      { numRuns: 100 },
    );
  });

  /** Every member that is an address by its name, at any depth. */
  function addressesIn(value: unknown): readonly string[] {
    if (Array.isArray(value)) return value.flatMap(addressesIn);
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, member]) =>
      typeof member === "string" && /url$/i.test(name) ? [member] : addressesIn(member),
    );
  }
});

describe("forwarding headers", () => {
  test("change no address of the card: anyone can send them; only publicUrl is trusted", async () => {
    const direct = await signedUpstream();
    const bridged = opened(await bridge(direct, { discoveryCache: new DiscoveryCache() }));
    const server = opened(
      await serve(bridged, { publicUrl: "https://gateway.example/base", names: ["127.0.0.1"], openToEverybody: true }),
    );
    const local = `http://127.0.0.1:${server.port}${CARD}`;
    const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http", forwarded: "host=evil.example" };
    const text = new TextDecoder().decode(await bytesAt(local, headers));
    expect(text).toBe(new TextDecoder().decode(await bytesAt(local)));
    expect(text).toContain('"url":"https://gateway.example/base/a2a"');
    expect(text).not.toContain("evil");
  });
});

describe("extended cards", () => {
  const TOKENS = { ann: "anns-token-0123456789", bob: "bobs-token-0123456789" };
  const admission = bearerTokens(new Map(Object.entries(TOKENS)));

  async function started(upstreamCredentials: BridgeSettings["upstreamCredentials"], own?: string) {
    const upstream = opened(await serve(upstreamAgent, { admission }));
    const credentials = own === undefined ? {} : { bearer: own };
    return opened(
      await bridge(upstream.url, { discoveryCache: new DiscoveryCache(), credentials, bridge: { upstreamCredentials } }),
    );
  }
  const callerOf = async ({ url }: Server, who: keyof typeof TOKENS): Promise<RemoteAgent> =>
    opened(await connect(url, { credentials: { bearer: TOKENS[who] }, discoveryCache: new DiscoveryCache() }));

  test("belong to each caller, in any number and order of requests", async () => {
    const server = opened(await serve(await started("passthrough"), { admission }));
    const [ann, bob] = [await callerOf(server, "ann"), await callerOf(server, "bob")];
    const asked = [ann, bob, bob, ann, bob, ann];
    const cards = await Promise.all(asked.map((peer) => peer.extendedCard()));
    expect(cards.map(({ description }) => description)).toEqual(
      asked.map((peer) => (peer === ann ? "tells ann more" : "tells bob more")),
    );
    // Authentication and addresses are those of the gateway there too.
    expect(cards[0]?.security).toEqual(ann.card.security);
    expect(cards[0]?.interfaces.every(({ url }) => url.includes(`:${server.port}`))).toBe(true);
  });

  test("are not cached for other callers", async () => {
    const server = opened(await serve(await started("passthrough"), { admission }));
    const headers = { authorization: `Bearer ${TOKENS.ann}`, "a2a-version": "1.0" };
    const response = await fetch(`${server.url}/a2a/extendedAgentCard`, { headers });
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
  });

  test("are refused to anonymous callers if the gateway uses its own credential", async () => {
    const server = opened(await serve(await started("own", TOKENS.ann)));
    const anonymous = opened(await connect(server.url, { discoveryCache: new DiscoveryCache() }));
    await expect(anonymous.extendedCard()).rejects.toMatchObject({ code: "unauthenticated" });
  });
});
