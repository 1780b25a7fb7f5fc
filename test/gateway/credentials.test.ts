import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Floor } from "../../src/envelope/index.js";
import {
  agent,
  type BridgeOptions,
  bridge,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  type Server,
  serve,
} from "../../src/index.js";
import { type Admission, apiKeys, bearerTokens, cardSigner, newCardKey } from "../../src/public/auth.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { CALLER_HEADER, trustGateway } from "../../src/security/index.js";
import { toy } from "../toy/index.js";
import { interfacesOf } from "./pairs/interfaces.js";

/** Which credential an upstream receives, over real connections: the gateway's, the caller's, or an exchanged one. */

const CALLERS = { ann: "anns-token-at-the-gateway-01", bob: "bobs-token-at-the-gateway-01" } as const;
const GATEWAY = "the-gateways-own-token-01234";
const KEY_PLACE = { location: "header", name: "x-api-key" } as const;
const interfaces = await interfacesOf(protocols);

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

/** An agent that names its caller, with an admission that records credentials. */
async function startUpstream(admission?: Admission) {
  const shown: (string | undefined)[] = [];
  const stated: (string | undefined)[] = [];
  const upstreamAgent = agent({
    name: "caller-name",
    description: "says who calls",
    handle: (_message, { caller }) => `called by ${caller}`,
  });
  if (admission === undefined) return { server: opened(await serve(upstreamAgent)), shown, stated };
  const watching = Object.assign((...[request, facts]: Parameters<Admission>) => {
    shown.push(request.headers["authorization"]);
    stated.push(request.headers[CALLER_HEADER]);
    return admission(request, facts);
  }, admission);
  return { server: opened(await serve(upstreamAgent, { admission: watching })), shown, stated };
}

const tokens = (named: object): Admission => bearerTokens(new Map(Object.entries(named)));

async function startGateway(
  url: string,
  options: BridgeOptions,
): Promise<{ readonly server: Server; readonly notes: readonly string[] }> {
  const bridged = opened(await bridge(url, { discoveryCache: new DiscoveryCache(), ...options }));
  const server = opened(await serve(bridged, { admission: tokens(CALLERS) }));
  return { server, notes: bridged.notes };
}

async function callerOf({ url }: Server, who: keyof typeof CALLERS, pin?: string): Promise<RemoteAgent> {
  const credentials = { bearer: CALLERS[who] };
  return opened(await connect(url, { credentials, discoveryCache: new DiscoveryCache(), ...(pin === undefined ? {} : { pin }) }));
}

describe("own", () => {
  test.each(interfaces)("sends the gateway's credential and never a caller's: $pin", async ({ pin }) => {
    const { server: upstream, shown } = await startUpstream(tokens({ gateway: GATEWAY }));
    const { server, notes } = await startGateway(upstream.url, { pin, credentials: { bearer: GATEWAY } });
    expect(await (await callerOf(server, "ann")).ask("who?")).toBe("called by gateway");
    expect(new Set(shown)).toEqual(new Set([`Bearer ${GATEWAY}`]));
    expect(notes).toEqual([]);
  });

  test("is refused at start if the card requires credentials that the gateway does not have", async () => {
    const { server: upstream } = await startUpstream(tokens({ gateway: GATEWAY }));
    await expect(bridge(upstream.url, { discoveryCache: new DiscoveryCache() })).rejects.toMatchObject({
      code: "unauthenticated",
      message: expect.stringContaining("credentials.bearer"),
    });
  });
});

describe("passthrough", () => {
  test.each(interfaces)("sends each caller's own token and never the gateway's: $pin", async ({ pin }) => {
    const { server: upstream, shown } = await startUpstream(tokens(CALLERS));
    const { server, notes } = await startGateway(upstream.url, { pin, bridge: { upstreamCredentials: "passthrough" } });
    shown.length = 0;
    const [ann, bob] = [await callerOf(server, "ann"), await callerOf(server, "bob")];
    expect(await Promise.all([ann.ask("who?"), bob.ask("who?"), ann.ask("who?")])).toEqual([
      "called by ann",
      "called by bob",
      "called by ann",
    ]);
    expect(new Set(shown)).toEqual(new Set([`Bearer ${CALLERS.ann}`, `Bearer ${CALLERS.bob}`]));
    expect(notes[0]).toContain("same trust domain");
  });

  test("uses the gateway's own token in discovery only to read, and in its own calls", async () => {
    const own = tokens({ gateway: GATEWAY });
    const seen: string[] = [];
    const admission = Object.assign((...[request, facts]: Parameters<Admission>) => {
      seen.push(`${request.method} ${request.headers["authorization"] ?? "without credentials"}`);
      return own(request, facts);
    }, own);
    const { server: upstream } = await startUpstream(admission);
    const bridged = opened(
      await bridge(upstream.url, {
        discoveryCache: new DiscoveryCache(),
        pin: "a2a@1.0/JSONRPC",
        credentials: { bearer: GATEWAY },
        bridge: { upstreamCredentials: "passthrough" },
      }),
    );
    expect(new Set(seen.filter((line) => line.startsWith("POST")))).toEqual(new Set(["POST without credentials"]));
    expect(await bridged.upstream.health()).toBe(true);
    expect(seen.at(-1)).toBe(`POST Bearer ${GATEWAY}`);
  });

  test("applies to streams and relays too", async () => {
    const { server: upstream } = await startUpstream(tokens(CALLERS));
    const { server } = await startGateway(upstream.url, { bridge: { mode: "relay", upstreamCredentials: "passthrough" } });
    const received: string[] = [];
    for await (const event of (await callerOf(server, "bob")).stream("who?")) received.push(JSON.stringify(event));
    expect(received.join()).toContain("called by bob");
  });

  test("returns the upstream's rejection of a token to the caller, and sends nothing without a token", async () => {
    const { server: upstream, shown } = await startUpstream(tokens({ ann: CALLERS.ann }));
    const bridged = opened(
      await bridge(upstream.url, { discoveryCache: new DiscoveryCache(), bridge: { upstreamCredentials: "passthrough" } }),
    );
    const keyed = apiKeys(new Map([["cid", "cids-key-at-the-gateway-01"]]), KEY_PLACE);
    const server = opened(await serve(bridged, { admission: tokens(CALLERS) }));
    await expect((await callerOf(server, "bob")).ask("who?")).rejects.toMatchObject({ code: "unauthenticated" });
    shown.length = 0;
    const byKey = opened(await serve(bridged, { admission: keyed }));
    const cid = opened(
      await connect(byKey.url, { discoveryCache: new DiscoveryCache(), credentials: { apiKey: "cids-key-at-the-gateway-01" } }),
    );
    await expect(cid.ask("who?")).rejects.toThrow("this call has none");
    expect(shown).toEqual([]);
  });

  test("uses the gateway's own token for its own requests, never for a caller", async () => {
    const { server: upstream } = await startUpstream(tokens({ ...CALLERS, gateway: GATEWAY }));
    const bridged = opened(
      await bridge(upstream.url, {
        discoveryCache: new DiscoveryCache(),
        credentials: { bearer: GATEWAY },
        bridge: { upstreamCredentials: "passthrough" },
      }),
    );
    expect(await bridged.upstream.health()).toBe(true);
    expect(await bridged.upstream.ask("who?")).toBe("called by gateway");
    const server = opened(await serve(bridged, { admission: tokens(CALLERS) }));
    expect(await (await callerOf(server, "ann")).ask("who?")).toBe("called by ann");
  });

  test("is refused without authentication: all tasks would have one owner", async () => {
    const { server: upstream } = await startUpstream(tokens(CALLERS));
    const bridged = opened(
      await bridge(upstream.url, { discoveryCache: new DiscoveryCache(), bridge: { upstreamCredentials: "passthrough" } }),
    );
    const server = opened(await serve(bridged));
    await expect((await callerOf(server, "ann")).ask("who?")).rejects.toThrow("does not authenticate its callers");
  });

  test("is refused at start if the card requires credentials that no caller can present", async () => {
    const { server: upstream } = await startUpstream(apiKeys(new Map([["gateway", GATEWAY]]), KEY_PLACE));
    const passing = { discoveryCache: new DiscoveryCache(), bridge: { upstreamCredentials: "passthrough" } } as const;
    await expect(bridge(upstream.url, passing)).rejects.toMatchObject({ code: "unauthenticated" });
    // With a key of the gateway's own, every caller would act as the gateway.
    await expect(bridge(upstream.url, { ...passing, credentials: { apiKey: GATEWAY } })).rejects.toMatchObject({
      code: "unauthenticated",
      message: expect.stringContaining("requires something other than a bearer token"),
    });
  });
});

describe("exchange", () => {
  /** Returns `<name> at upstream` for the caller's token, as a real service on a real socket. */
  async function startService(): Promise<{ readonly url: string; readonly subjects: string[] }> {
    const subjects: string[] = [];
    const service: HttpServer = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const subject = new URLSearchParams(body).get("subject_token") ?? "";
      subjects.push(subject);
      const name = Object.entries(CALLERS).find(([, token]) => token === subject)?.[0];
      const answer =
        name === "ann"
          ? { access_token: exchangedFor(name), token_type: "Bearer", expires_in: 300 }
          : { error: "invalid_target" };
      response.writeHead(name === "ann" ? 200 : 400, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    opened({ close: () => new Promise((resolve) => service.close(resolve)) });
    return { url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/token`, subjects };
  }
  const exchangedFor = (name: string): string => `${name}s-exchanged-token-0123456`;

  test.each(interfaces)("sends the exchanged token, from one exchange for many calls: $pin", async ({ pin }) => {
    const { server: upstream, shown } = await startUpstream(tokens({ ann: exchangedFor("ann") }));
    const { url: tokenUrl, subjects } = await startService();
    const { server, notes } = await startGateway(upstream.url, {
      pin,
      bridge: { upstreamCredentials: { exchange: { tokenUrl, audience: "caller-name" } } },
    });
    shown.length = 0;
    const ann = await callerOf(server, "ann");
    expect([await ann.ask("who?"), await ann.ask("who?")]).toEqual(["called by ann", "called by ann"]);
    expect(new Set(shown)).toEqual(new Set([`Bearer ${exchangedFor("ann")}`]));
    expect(subjects).toEqual([CALLERS.ann]);
    expect(notes[0]).toContain("exchanged at 127.0.0.1");
  });

  test("refuses a caller without an exchanged token, before anything is sent", async () => {
    const { server: upstream, shown } = await startUpstream(tokens({ ann: exchangedFor("ann") }));
    const { url: tokenUrl } = await startService();
    const { server } = await startGateway(upstream.url, { bridge: { upstreamCredentials: { exchange: { tokenUrl } } } });
    shown.length = 0;
    await expect((await callerOf(server, "bob")).ask("who?")).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("invalid_target"),
    });
    expect(shown).toEqual([]);
  });
});

describe("tellCaller", () => {
  test.each(interfaces)("names the caller to an upstream that trusts the gateway: $pin", async ({ pin }) => {
    const key = newCardKey("EdDSA", "gateway-1");
    const issuer = "https://gateway.example";
    let origin = "";
    const believing: Admission = (request, facts) =>
      trustGateway(tokens({ gateway: GATEWAY }), ({ id }) => id === "gateway", {
        issuer,
        audience: origin,
        jwks: { keys: [key.publicJwk] },
      })(request, facts);
    const { server: upstream, stated } = await startUpstream(
      Object.assign(believing, { security: tokens({ a: GATEWAY }).security }),
    );
    origin = upstream.url;
    const { server } = await startGateway(upstream.url, {
      pin,
      credentials: { bearer: GATEWAY },
      bridge: { tellCaller: { signer: cardSigner({ key: key.privateJwk }), issuer } },
    });
    stated.length = 0;
    expect(await (await callerOf(server, "bob")).ask("who?")).toBe(`called by ${issuer}#bearer:bob`);
    expect(stated).not.toContain(undefined);
  });

  test("cannot be set by a caller", async () => {
    const { server: upstream, stated } = await startUpstream(tokens({ gateway: GATEWAY }));
    const { server } = await startGateway(upstream.url, { credentials: { bearer: GATEWAY } });
    const credentials = { bearer: CALLERS.bob, headers: { [CALLER_HEADER]: "i-am-ann" } };
    const bob = opened(await connect(server.url, { credentials, discoveryCache: new DiscoveryCache() }));
    expect(await bob.ask("who?")).toBe("called by gateway");
    expect(new Set(stated)).toEqual(new Set([undefined]));
  });
});

describe("a caller of a signed interface", () => {
  const SIGNED: Floor = { signed: true, identity: true, encrypted: false, endToEnd: false };
  /** The toy protocol with signatures declared: its messages may only be forwarded over signed interfaces. */
  const signed: Protocol = {
    ...toy,
    traits: { ...toy.traits, signed: "hop" },
    serve: (host) => toy.serve({ ...host, begin: (request, start) => host.begin(request, start).derive({ floor: SIGNED }) }),
    connect: (context) => ({ ...toy.connect(context), protection: () => SIGNED }),
  };

  test.each(["adopt", "relay"] as const)("is not forwarded over an unsigned one: %s", async (mode) => {
    const { server: upstream } = await startUpstream();
    const bridged = opened(await bridge(upstream.url, { discoveryCache: new DiscoveryCache(), bridge: { mode } }));
    const server = opened(await serve(bridged, { protocols: [...protocols, signed] }));
    const caller = (known: Protocol) => connect(server.url, { protocols: [known], discoveryCache: new DiscoveryCache() });
    await expect(opened(await caller(signed)).ask("who?")).rejects.toMatchObject({ code: "downgrade_refused" });
    const plain = opened(await connect(server.url, { discoveryCache: new DiscoveryCache() }));
    expect(await plain.ask("who?")).toBe("called by anonymous");
  });

  test("is forwarded over a signed one", async () => {
    const upstreamAgent = agent({ name: "caller-name", description: "says who calls", handle: () => "signed all the way" });
    const upstream = opened(await serve(upstreamAgent, { protocols: [signed] }));
    const bridged = opened(await bridge(upstream.url, { protocols: [signed], discoveryCache: new DiscoveryCache() }));
    const server = opened(await serve(bridged, { protocols: [signed] }));
    const caller = opened(await connect(server.url, { protocols: [signed], discoveryCache: new DiscoveryCache() }));
    expect(await caller.ask("who?")).toBe("signed all the way");
  });
});
