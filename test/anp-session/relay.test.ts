import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { bridge, DiscoveryCache, type ServeOptions, serve } from "../../src/index.js";
import { type AuditEntry, bearerTokens } from "../../src/public/auth.js";
import { createMetrics, createTelemetry } from "../../src/telemetry/index.js";
import { called, closeAll, closeLater, directory, host, PIN, reasonOf, registry, served, worker } from "./peers.js";

afterEach(closeAll);

interface Relay extends ServeOptions {
  readonly mode?: "adopt" | "relay";
  readonly agentRequires?: readonly "identity"[];
}

const ann = directory.create("ann");
const TOKEN = "ann-token-0123456789";
const gateway = directory.create("gateway");

/** A gateway before an agent that proves `host`. */
async function relayed({ mode = "relay", agentRequires, ...options }: Relay = {}, to?: string): Promise<string> {
  const bridged = await bridge(to ?? (await served()), {
    protocols: registry,
    discoveryCache: new DiscoveryCache(),
    resolver: directory.resolver(),
    bridge: { name: "relayed", mode, ...(agentRequires === undefined ? {} : { require: agentRequires }) },
  });
  closeLater(() => bridged.close());
  const server = await serve(bridged, { protocols: registry, resolver: directory.resolver(), ...options });
  closeLater(() => server.close());
  return server.url;
}

/** What a caller insists on: the DID of the agent, and that nobody else reads. */
const INSISTS = { settings: { anp: { peer: host.did } }, require: ["end-to-end", "signed", "identity"] } as const;

describe("a relay between two agents", () => {
  test("passes the session on: each side proves its DID to the other", async () => {
    const peer = await called(await relayed(), ann, INSISTS);
    expect(await peer.ask("hello")).toBe("you said: hello");
    expect(await peer.ask("who")).toContain(ann.did);
  });

  test("has no identity in it, also if it has one of its own", async () => {
    const peer = await called(await relayed({ identity: gateway }), ann, INSISTS);
    expect(await peer.ask("who")).toContain(ann.did);
  });

  test("may be behind another one", async () => {
    const peer = await called(await relayed({}, await relayed()), ann, INSISTS);
    expect(await peer.ask("who")).toContain(ann.did);
  });

  test("names the DID of the agent in its description: callers that know no DID are sealed to the agent, too", async () => {
    const url = await relayed({ identity: gateway });
    const description = await (await fetch(`${url}/anp/ad.json`)).json();
    expect(description).toMatchObject({ did: host.did });
    const peer = await called(url, ann);
    expect(await peer.ask("who")).toContain(ann.did);
  });

  test("refuses a session for somebody else", async () => {
    const other = { settings: { anp: { peer: gateway.did } } };
    expect(await reasonOf(called(await relayed({ identity: gateway }), ann, other).then((peer) => peer.ask("hello")))).toBe(
      "handshake_failed refused_by_peer",
    );
  });

  test("admits callers by its own credentials, and the agent by their DID", async () => {
    const url = await relayed({ admission: bearerTokens(new Map([["ann", TOKEN]])) });
    const peer = await called(url, ann, { ...INSISTS, credentials: { bearer: TOKEN } });
    expect(await peer.ask("who")).toContain(ann.did);
    const wrong = called(url, ann, { ...INSISTS, credentials: { bearer: `${TOKEN}0` } });
    expect(await reasonOf(wrong.then((stranger) => stranger.ask("hello")))).toBe("unauthenticated undefined");
    // A DID may take the place of credentials where it is proved, which is not here.
    const socket = new WebSocket(`${url.replace("http", "ws")}/anp/rpc`, ["koine.anp.session.v1"]);
    const [answer] = await once(socket, "message");
    expect(JSON.parse(String(answer))).toMatchObject({ error: { data: { code: "unauthenticated" } } });
    expect(await once(socket, "close")).toMatchObject([1008, expect.anything()]);
  });

  test("counts what passes, and records who says it is whose session it is", async () => {
    const metrics = createMetrics();
    const entries: AuditEntry[] = [];
    const audit = { record: (entry: AuditEntry) => void entries.push(entry), close: async () => undefined };
    const peer = await called(await relayed({ audit, telemetry: createTelemetry({ metrics }) }), ann, INSISTS);
    await peer.ask("hello");
    await peer.close();
    const what = { what: "GET /anp/rpc", who: "anonymous", agent: "relayed" };
    await expect
      .poll(() => entries.filter(({ event }) => event.startsWith("relay.")))
      .toMatchObject([
        { event: "relay.opened", ...what, reason: `a sealed session of ${ann.did}, which is proved to the agent` },
        { event: "relay.ended", ...what, reason: expect.stringMatching(/: 1000 after \d+ messages, \d+ bytes$/) },
      ]);
    const [, messages, bytes] = /after (\d+) messages, (\d+) bytes/.exec(entries.at(-1)?.reason ?? "")?.map(Number) ?? [];
    // The signed hello, finish, accepted, one call and its answer.
    expect(messages).toBe(5);
    const counted = (name: string) => metrics.families().find((each) => each.name === name)?.samples;
    const edge = { srcAgent: "anonymous", dstId: "relayed", protocol: "anp" };
    expect(counted("RELAYED_MESSAGES")).toEqual([{ edge, value: messages }]);
    expect(counted("RELAYED_BYTES")).toEqual([{ edge, value: bytes }]);
  });

  test("ends when the agent does", async () => {
    const agent = await serve(worker, { protocols: registry, identity: host, resolver: directory.resolver() });
    const peer = await called(await relayed({}, agent.url), ann, INSISTS);
    expect(await peer.ask("hello")).toBe("you said: hello");
    await agent.close();
    await expect(peer.ask("hello")).rejects.toMatchObject({ code: expect.stringMatching(/unavailable|interrupted|unreachable/) });
  });
});

describe("the gateway is an end of the session", () => {
  test.each<{ readonly what: string; readonly relay: Relay }>([
    { what: "in adopt mode", relay: { mode: "adopt" } },
    { what: "if the operator says so", relay: { settings: { anp: { relaySessions: false } } } },
    { what: "if it must know what callers bring", relay: { require: ["identity"] } },
    { what: "if the agent requires something of callers", relay: { agentRequires: ["identity"] } },
  ])("$what: a caller that insists on the agent is not deceived", async ({ relay }) => {
    const url = await relayed({ identity: gateway, ...relay });
    expect(await (await fetch(`${url}/anp/ad.json`)).json()).toMatchObject({ did: gateway.did });
    expect(await reasonOf(called(url, ann, INSISTS).then((peer) => peer.ask("hello")))).toBe("handshake_failed refused_by_peer");
  });
});

test("an agent that accepts only what is protected from end to end accepts sessions, and no HTTP", async () => {
  const url = await served({ require: ["end-to-end"] });
  const sealed = await called(url, ann);
  expect(await sealed.ask("hello")).toBe("you said: hello");
  const signed = await called(url, ann, { pin: PIN.replace("WS", "JSONRPC") });
  await expect(signed.ask("hello")).rejects.toMatchObject({ code: "downgrade_refused" });
});
