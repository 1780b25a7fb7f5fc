import { afterEach, expect, test } from "vitest";
import { configFrom, openGateway } from "../apps/gateway/index.js";
import { agent, bridge, connect, type RemoteAgent, serve } from "../src/index.js";
import { bearerTokens, openAdmission } from "../src/public/auth.js";

const ANN = "the-token-of-ann-0123456789";
const GATEWAY = "the-token-of-the-gateway-01";
const PINS = ["a2a@1.0/JSONRPC", "a2a@1.0/GRPC", "a2a@0.3/JSONRPC", "acp", "agora"];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function served(options: Parameters<typeof serve>[1] = {}): Promise<string> {
  const sources = agent({
    name: "sources",
    description: "names the source of a message",
    handle: ({ src, meta }) => JSON.stringify([src, meta.claimedSrc ?? null]),
  });
  const admission = bearerTokens(
    new Map([
      ["ann", ANN],
      ["gateway", GATEWAY],
    ]),
  );
  const server = await serve(sources, { push: false, admission, ...options });
  closing.push(() => server.close());
  return server.url;
}

async function ask(url: string, pin: string, bearer: string, as: string): Promise<unknown> {
  const peer: RemoteAgent = await connect(url, { pin, as, credentials: { bearer } });
  closing.push(() => peer.close());
  // Protocols without a member for the source carry it with the others of the envelope, such as tags.
  return JSON.parse(await peer.ask("who am I?", { tags: ["x"] }));
}

test.each(PINS)("the source of a message is its caller, whatever it claims: %s", async (pin) => {
  const [src] = (await ask(await served(), pin, ANN, "bob")) as [string, string | null];
  expect(src).toBe("ann");
});

test.each(["a2a@1.0/JSONRPC", "acp"])("what it claimed is kept apart: %s", async (pin) => {
  expect(await ask(await served(), pin, ANN, "bob")).toEqual(["ann", "bob"]);
});

test("a configured gateway speaks for others", async () => {
  expect(await ask(await served({ gateways: ["gateway"] }), "a2a@1.0/JSONRPC", GATEWAY, "bob")).toEqual(["bob", null]);
});

test.each([
  [["gateway"], "bob"],
  [[], "gateway"],
])("a configured gateway trusts the gateways of its configuration: %j", async (gateways, src) => {
  const upstream = await served({ admission: openAdmission() });
  const document = {
    listen: { port: 0 },
    auth: { tokens: { env: "TOKENS" }, gateways },
    agents: [{ name: "sources", upstream, mode: "relay" }],
  };
  const gateway = await openGateway(configFrom(document, { folder: "/", env: { TOKENS: `gateway=${GATEWAY}` } }));
  closing.push(() => gateway.close());
  expect(await ask(gateway.url, "a2a@1.0/JSONRPC", GATEWAY, "bob")).toContain(src);
});

test("a gateway that owns the tasks does not tell the upstream who its callers are", async () => {
  const upstream = await served({ gateways: ["gateway"] });
  const bridged = await bridge(upstream, { credentials: { bearer: GATEWAY } });
  closing.push(() => bridged.close());
  const front = await serve(bridged, { push: false, admission: bearerTokens(new Map([["ann", ANN]])) });
  closing.push(() => front.close());
  const [src] = (await ask(front.url, "a2a@1.0/JSONRPC", ANN, "ann")) as [string];
  expect(src).toMatch(/^[0-9a-f-]{36}$/);
});
