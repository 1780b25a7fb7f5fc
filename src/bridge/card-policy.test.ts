import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Card } from "../envelope/index.js";
import { bridgedCard, type CardFacts } from "./card-policy.js";

const CARD: Card = {
  name: "Orders",
  description: "takes orders at http://inner.example:9000/docs",
  version: "1",
  skills: [{ id: "a", name: "a", description: "a", tags: [], examples: ["see inner.example"], security: [{ key: [] }] }],
  inputModes: [],
  outputModes: [],
  capabilities: { streaming: false, push: true, extended: false, idempotentSend: false, resume: false, extensions: [] },
  security: { schemes: { key: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://inner.example" } } }, anyOf: [] },
  interfaces: [{ protocol: "p", version: "1", binding: "b", url: "https://gateway.example/base/p" }],
  original: { protocol: "p", bytes: new Uint8Array([1]) },
};
const FACTS: CardFacts = {
  name: "orders",
  protocol: "p",
  policy: "rewrite+strip",
  signed: false,
  canSign: false,
  publicUrl: "https://gateway.example/base",
  upstreamUrls: ["http://inner.example:9000"],
  adopted: true,
};
const at = (...urls: string[]): Card => ({
  ...CARD,
  interfaces: urls.map((url) => ({ protocol: "p", version: "1", binding: "b", url })),
});

describe("a rewritten card", () => {
  it("has the gateway's name, and no address, document or security scheme of the upstream", () => {
    const { card } = bridgedCard(CARD, FACTS);
    expect(card).toMatchObject({ name: "orders", interfaces: [], security: { schemes: {}, anyOf: [] }, original: undefined });
    expect(card.skills[0]?.security).toBeUndefined();
  });

  it("keeps descriptions, and links to other hosts", () => {
    const linked = { ...CARD, documentationUrl: "https://docs.example/orders" };
    const { card, losses } = bridgedCard(linked, FACTS);
    expect([card.description, card.skills[0]?.examples]).toEqual([CARD.description, ["see inner.example"]]);
    expect(card.documentationUrl).toBe("https://docs.example/orders");
    expect(losses).toEqual([]);
  });

  it("removes links to the upstream's host, on any port, and reports them", () => {
    const fromHost = fc.tuple(
      fc.constantFrom("inner.example", "10.0.0.7", "[2001:db8::7]"),
      fc.integer({ min: 1, max: 65_535 }),
      fc.webPath(),
    );
    fc.assert(
      fc.property(fromHost, fc.integer({ min: 1, max: 65_535 }), ([host, port, path], otherPort) => {
        const link = `https://${host}:${otherPort}${path}`;
        const linked = {
          ...at(`http://${host}:${port}${path}`),
          documentationUrl: link,
          iconUrl: link,
          provider: { organization: "o", url: link },
        };
        const { card, losses } = bridgedCard(linked, { ...FACTS, upstreamUrls: [] });
        expect([card.documentationUrl, card.iconUrl, card.provider]).toEqual([undefined, undefined, undefined]);
        expect(losses.map((loss) => loss.path)).toEqual(["card.provider", "card.documentationUrl", "card.iconUrl"]);
      }),
    );
  });

  it("reports a removed signature as a note and as a loss; a card that is signed again loses nothing", () => {
    const stripped = bridgedCard(CARD, { ...FACTS, signed: true });
    expect(stripped.downgrade).toBe(
      "the card of orders was signed; its signatures were removed because its addresses were rewritten",
    );
    expect(stripped.losses).toMatchObject([{ protocol: "p", path: "card.signatures" }]);
    const anew = bridgedCard(CARD, { ...FACTS, signed: true, policy: "rewrite+resign", canSign: true });
    expect([anew.downgrade, anew.losses]).toEqual([undefined, []]);
    expect(() => bridgedCard(CARD, { ...FACTS, policy: "rewrite+resign" })).toThrow("has a key");
  });
});

describe("a verbatim card", () => {
  const stays = (card: Card, publicUrl: string | undefined) => () =>
    bridgedCard(card, { ...FACTS, policy: "verbatim", publicUrl });

  it("keeps its document, and has the gateway's name", () => {
    expect(stays(CARD, FACTS.publicUrl)().card).toEqual({ ...CARD, name: "orders" });
  });

  it.each([
    ["https://gateway.example/base", "https://gateway.example/base"],
    ["https://gateway.example:443/base/p", "https://gateway.example/base/"],
    ["https://gateway.example/p", "https://gateway.example"],
    ["gateway.example:8443", "https://gateway.example:8443"],
    ["[2001:db8::1]:50051", "http://[2001:db8::1]:50051/"],
  ])("may name %s where the gateway is %s", (url, publicUrl) => {
    expect(stays(at(url), publicUrl)().card.interfaces[0]?.url).toBe(url);
  });

  it.each([
    ["https://gateway.example/basement", "https://gateway.example/base"],
    ["https://gateway.example/", "https://gateway.example/base"],
    ["https://gateway.example/base/../x", "https://gateway.example/base"],
    ["http://gateway.example/base", "https://gateway.example/base"],
    ["https://gateway.example.evil.example/base", "https://gateway.example/base"],
    ["https://gateway.example@evil.example/base", "https://gateway.example/base"],
    ["gateway.example:8443", "https://gateway.example"],
    ["http://inner.example:9000", "https://gateway.example"],
    ["https://gateway.example/base", undefined],
  ])("may not name %s where the gateway is %s", (url, publicUrl) => {
    expect(stays(at("https://gateway.example/base/ok", url), publicUrl)).toThrow("past this gateway");
  });

  it("needs a document", () => {
    expect(stays({ ...CARD, original: undefined }, FACTS.publicUrl)).toThrow("no document");
  });
});
