import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Card } from "../../../envelope/index.js";
import { v03 } from "../codec/codec-0.3.js";
import { v03Proto } from "../codec/codec-0.3-proto.js";
import { v1 } from "../codec/codec-1.0.js";
import { hybridCard, readCard } from "./card.js";

const bytes = new Uint8Array([123, 125]);
const fixture = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), "utf8"));
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const card: Card = {
  name: "Log reader",
  description: "Reads logs and reports findings",
  version: "2.1.0",
  provider: { organization: "Example", url: "https://example.org" },
  documentationUrl: "https://agent.example/docs",
  iconUrl: "https://agent.example/i.png",
  skills: [
    {
      id: "summarise",
      name: "Summarise",
      description: "Shortens a log",
      tags: ["logs"],
      examples: ["shorten this"],
      inputModes: ["text/plain"],
    },
  ],
  inputModes: ["text/plain"],
  outputModes: ["text/plain", "application/json"],
  capabilities: {
    streaming: true,
    push: true,
    extended: true,
    idempotentSend: false,
    resume: false,
    extensions: [{ uri: "https://ext.example/citations/v1", description: "Source links", required: false, params: { depth: 2 } }],
  },
  security: {
    schemes: {
      corp: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id.example/.well-known/openid-configuration" } },
      key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
    },
    anyOf: [{ corp: ["logs.read"] }, { key: [] }],
  },
  interfaces: [
    { protocol: "a2a", version: "1.0", binding: "JSONRPC", url: "https://agent.example/a2a/rpc" },
    { protocol: "a2a", version: "1.0", binding: "HTTP+JSON", url: "https://agent.example/a2a", tenant: "acme" },
    { protocol: "a2a", version: "1.0", binding: "GRPC", url: "agent.example:443" },
  ],
};
const both: Card = {
  ...card,
  interfaces: [
    { protocol: "acp", version: "0.2", binding: "rest", url: "https://agent.example/runs" },
    { protocol: "a2a", version: "1.0", binding: "JSONRPC", url: "https://agent.example/a2a" },
    { protocol: "a2a", version: "0.3", binding: "JSONRPC", url: "https://agent.example/a2a" },
    { protocol: "a2a", version: "0.3", binding: "HTTP+JSON", url: "https://agent.example/old" },
  ],
};
const minimal = {
  name: "a",
  supportedInterfaces: [{ url: "https://a.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
};

describe("the card of 1.0", () => {
  test("the SDK's document is this card", () => {
    expect(v1.decodeCard(fixture("card-1.0"), bytes)).toEqual({ ...card, original: { protocol: "a2a", bytes } });
  });

  test("and the card is the SDK's document, but for an empty list of scopes", () => {
    const want = {
      ...fixture("card-1.0"),
      securityRequirements: [{ schemes: { corp: { list: ["logs.read"] } } }, { schemes: { key: { list: [] } } }],
    };
    expect(wire(v1.encodeCard(card))).toEqual(want);
  });

  test("contains only A2A addresses", () => {
    expect(v1.encodeCard(both)).toMatchObject({
      supportedInterfaces: [
        { url: "https://agent.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url: "https://agent.example/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" },
        { url: "https://agent.example/old", protocolBinding: "HTTP+JSON", protocolVersion: "0.3" },
      ],
    });
  });

  test("has required members even if empty, and no empty optional ones", () => {
    const bare: Card = {
      name: "a",
      description: "",
      version: "",
      skills: [],
      inputModes: [],
      outputModes: [],
      capabilities: { streaming: false, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
      security: { schemes: {}, anyOf: [] },
      interfaces: [],
    };
    expect(wire(v1.encodeCard(bare))).toEqual({
      name: "a",
      description: "",
      version: "",
      supportedInterfaces: [],
      capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    });
  });

  test("declares capabilities that A2A lacks as extensions, and restores them", () => {
    const able = { ...card, capabilities: { ...card.capabilities, idempotentSend: true, resume: true } };
    expect(v1.encodeCard(able)).toMatchObject({
      capabilities: {
        extensions: [
          { uri: "https://ext.example/citations/v1" },
          { uri: "urn:koine:idempotent-send:1" },
          { uri: "urn:koine:resume:1" },
        ],
      },
    });
    expect(v1.decodeCard(wire(v1.encodeCard(able)), bytes).capabilities).toEqual(able.capabilities);
  });
});

describe("the card of 0.3", () => {
  test("the specification's sample is this card", () => {
    expect(v03.decodeCard(fixture("card-0.3"), bytes)).toEqual({
      name: "Route planner",
      description: "Plans routes and draws maps.",
      version: "1.2.0",
      provider: { organization: "Example Maps", url: "https://maps.example" },
      documentationUrl: "https://docs.maps.example",
      iconUrl: "https://maps.example/icon.png",
      skills: [
        {
          id: "route",
          name: "Traffic-aware route",
          description: "Best route between two places",
          tags: ["maps", "routing"],
          examples: ["Plan a route from A to B"],
          inputModes: ["application/json"],
          outputModes: ["application/json"],
        },
      ],
      inputModes: ["application/json", "text/plain"],
      outputModes: ["application/json", "image/png"],
      capabilities: { streaming: true, push: true, extended: true, idempotentSend: false, resume: false, extensions: [] },
      security: {
        schemes: {
          google: {
            openIdConnectSecurityScheme: { openIdConnectUrl: "https://accounts.example/.well-known/openid-configuration" },
          },
          key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
        },
        anyOf: [{ google: ["openid", "profile"] }, { key: [] }],
      },
      interfaces: [
        { protocol: "a2a", version: "0.3", binding: "JSONRPC", url: "https://maps.example/a2a/v1" },
        { protocol: "a2a", version: "0.3", binding: "GRPC", url: "https://maps.example/a2a/grpc" },
        { protocol: "a2a", version: "0.3", binding: "HTTP+JSON", url: "https://maps.example/a2a/json" },
      ],
      original: { protocol: "a2a", bytes },
    });
  });

  test("round-trips, except signatures and a dropped capability", () => {
    const { signatures: _, capabilities: __, ...want } = fixture("card-0.3");
    expect(wire(v03.encodeCard(v03.decodeCard(fixture("card-0.3"), bytes)))).toEqual({
      ...want,
      capabilities: { streaming: true, pushNotifications: true },
    });
  });

  test("`url` is an address that supports 0.3", () => {
    expect(v03.encodeCard(both)).toMatchObject({
      protocolVersion: "0.3.0",
      url: "https://agent.example/a2a",
      preferredTransport: "JSONRPC",
      additionalInterfaces: [
        { url: "https://agent.example/a2a", transport: "JSONRPC" },
        { url: "https://agent.example/old", transport: "HTTP+JSON" },
      ],
      supportsAuthenticatedExtendedCard: true,
    });
  });

  test("every kind of scheme in its form; on REST in that of the protobuf", () => {
    const schemes = {
      h: { httpAuthSecurityScheme: { scheme: "bearer", bearerFormat: "JWT" } },
      o: {
        oauth2SecurityScheme: {
          flows: { authorizationCode: { authorizationUrl: "a", tokenUrl: "t", scopes: { s: "d" }, pkceRequired: true } },
        },
      },
      m: { mtlsSecurityScheme: {} },
    };
    const given = { ...both, security: { schemes, anyOf: [{ h: [] }] } };
    expect(v03.encodeCard(given)).toMatchObject({
      securitySchemes: {
        h: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        o: { type: "oauth2", flows: { authorizationCode: { authorizationUrl: "a", tokenUrl: "t", scopes: { s: "d" } } } },
        m: { type: "mutualTLS" },
      },
      security: [{ h: [] }],
    });
    expect(JSON.stringify(v03.encodeCard(given))).not.toContain("pkceRequired");
    expect(v03Proto.encodeCard(given)).toMatchObject({ securitySchemes: schemes, security: [{ schemes: { h: { list: [] } } }] });
  });
});

describe("hybridCard", () => {
  test("has the members of both versions, and each scheme in both forms", () => {
    expect(wire(hybridCard(both))).toMatchObject({
      ...(wire(v1.encodeCard(both)) as object),
      protocolVersion: "0.3.0",
      url: "https://agent.example/a2a",
      preferredTransport: "JSONRPC",
      supportsAuthenticatedExtendedCard: true,
      security: [{ corp: ["logs.read"] }, { key: [] }],
      securitySchemes: {
        corp: {
          type: "openIdConnect",
          openIdConnectUrl: "https://id.example/.well-known/openid-configuration",
          openIdConnectSecurityScheme: { openIdConnectUrl: "https://id.example/.well-known/openid-configuration" },
        },
        key: { type: "apiKey", in: "header", name: "X-Key", apiKeySecurityScheme: { location: "header", name: "X-Key" } },
      },
    });
  });

  test("is read back as the original card", () => {
    const { original: _, ...read } = readCard(wire(hybridCard(both)), bytes);
    expect(read).toEqual({ ...both, interfaces: both.interfaces.slice(1) });
  });

  test("names no 0.3 address if none supports 0.3", () => {
    expect(wire(hybridCard(card))).toEqual(wire(v1.encodeCard(card)));
    expect(hybridCard(card)).not.toHaveProperty("url");
  });
});

describe("the security requirements of a skill", () => {
  const security = [{ corp: ["logs.write"], key: [] }];
  const guarded: Card = { ...both, skills: both.skills.map((skill) => ({ ...skill, security })) };
  const modern = [{ schemes: { corp: { list: ["logs.write"] }, key: { list: [] } } }];

  test.each([
    ["1.0", v1.encodeCard(guarded), { securityRequirements: modern }],
    ["0.3 by its schema", v03.encodeCard(guarded), { security }],
    ["0.3 by its protobuf", v03Proto.encodeCard(guarded), { security: modern }],
    ["both at once", hybridCard(guarded), { securityRequirements: modern, security }],
  ])("are written in the form of %s, and round-trip", (_, document, expected) => {
    const { skills } = wire(document) as { skills: Record<string, unknown>[] };
    const { security: old, securityRequirements } = skills[0] ?? {};
    expect(wire({ security: old, securityRequirements })).toEqual(expected);
    expect(readCard(wire(document), bytes).skills[0]?.security).toEqual(security);
  });

  test("are absent if not declared", () => {
    expect(wire(v1.encodeCard(both))).not.toHaveProperty("skills.0.securityRequirements");
    expect(readCard(wire(v1.encodeCard(both)), bytes).skills[0]?.security).toBeUndefined();
  });
});

describe("readCard accepts what deployed agents serve", () => {
  test("an old card with only an address", () => {
    expect(readCard({ name: "a", url: "https://a.example/" }, bytes).interfaces).toEqual([
      { protocol: "a2a", version: "0.3", binding: "JSONRPC", url: "https://a.example/" },
    ]);
    expect(readCard({ name: "a", url: "https://a.example/", protocolVersion: "0.2.6" }, bytes).interfaces[0]).toMatchObject({
      version: "0.3",
    });
  });

  test("patch numbers, unknown bindings, other case", () => {
    const supportedInterfaces = [
      { url: "u:1", protocolBinding: "https://bindings.example/mqtt", protocolVersion: "1.0" },
      { url: "u:2", protocolBinding: "http+json", protocolVersion: "1.0.1" },
    ];
    expect(readCard({ name: "a", supportedInterfaces }, bytes).interfaces).toEqual([
      { protocol: "a2a", version: "1.0", binding: "https://bindings.example/mqtt", url: "u:1" },
      { protocol: "a2a", version: "1.0", binding: "HTTP+JSON", url: "u:2" },
    ]);
  });

  test("an address without a version is not of the version at the top of a card for both", () => {
    const supportedInterfaces = [{ url: "u:1", protocolBinding: "JSONRPC" }];
    const versions = ["0.3.0", "1.0", undefined].map(
      (protocolVersion) => readCard({ name: "a", supportedInterfaces, protocolVersion }, bytes).interfaces[0]?.version,
    );
    expect(versions).toEqual(["1.0", "1.0", "1.0"]);
  });

  test("`security` beside 1.0's addresses, in either form", () => {
    expect(readCard({ ...minimal, security: [{ corp: ["a"] }] }, bytes).security.anyOf).toEqual([{ corp: ["a"] }]);
    expect(readCard({ ...minimal, security: [{ schemes: { corp: { list: ["a"] } } }] }, bytes).security.anyOf).toEqual([
      { corp: ["a"] },
    ]);
  });

  test.each<[unknown, string]>([
    [null, "card must be an object, not null"],
    [{ ...minimal, name: "" }, "name must not be empty"],
    [{ name: "a" }, "supportedInterfaces is missing, and so is the url of an older card"],
    [{ ...minimal, supportedInterfaces: {} }, "supportedInterfaces must be an array, not an object"],
    [
      { ...minimal, supportedInterfaces: [{ url: "u:1" }] },
      "supportedInterfaces[0].protocolBinding is missing; a string is expected",
    ],
    [{ ...minimal, capabilities: [] }, "capabilities must be an object, not an array"],
    [{ ...minimal, skills: [{ name: "x" }] }, "skills[0].id is missing; a string is expected"],
    [{ ...minimal, securitySchemes: { x: 5 } }, "securitySchemes.x must be an object, not a number"],
  ])("but not %j", (document, want) => {
    expect(() => readCard(document, bytes)).toThrow(want);
  });
});
