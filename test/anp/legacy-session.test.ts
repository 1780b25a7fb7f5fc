import { afterEach, describe, expect, test } from "vitest";
import { startCall } from "../../src/envelope/index.js";
import { agent, connect, DiscoveryCache, type RemoteAgent, type ServeOptions, serve } from "../../src/index.js";
import { connect as connectClient } from "../../src/protocols/anp/client.js";
import { anp } from "../../src/protocols/anp/index.js";
import { didAllOf } from "../../src/protocols/anp/legacy-session/did-all.js";
import { createClientContext } from "../../src/protocols/client-context.js";
import type { AuditEntry } from "../../src/public/auth.js";
import { createIdentity } from "../../src/security/identity/index.js";
import type { Link } from "../../src/transport/exchange.js";
import { pass, type Tamper, tamperingLink } from "../secured-toy/tampering-link.js";
import { RawSession } from "../session-toy/raw-session.js";

/** The session of agent-connect 0.3 between two sides of Koine: off by default, and what it refuses once it is on. */

const ON = { anp: { legacySession: true } };
const closing: (() => Promise<unknown>)[] = [];
let log: AuditEntry[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  log = [];
});

const who = agent({
  name: "who",
  description: "says who called",
  handle: (message, task) => `${message.text} ${task.owner} ${message.src}`,
});
const identity = createIdentity({ name: "host", did: "did:web:agents.example", kinds: ["Ed25519", "P-256"] });
const ann = createIdentity({ name: "ann", did: "key", kinds: ["P-256"] });
const pointOf = (own: typeof identity): Uint8Array => own.keys().find(({ kind }) => kind === "P-256")?.bytes ?? new Uint8Array();
const annDid = didAllOf(pointOf(ann), undefined);

const refusals = (): readonly string[] =>
  log.flatMap(({ event, code, reason }) => (event === "refused" ? [`${code} ${reason}`] : []));

async function served(options: ServeOptions = {}): Promise<{ readonly url: string; readonly did: string }> {
  const audit = { record: (entry: AuditEntry) => void log.push(entry), close: async () => undefined };
  const server = await serve(who, { protocols: [anp], identity, settings: ON, audit, ...options });
  closing.push(() => server.close());
  return { url: `ws://127.0.0.1:${server.port}/ws`, did: didAllOf(pointOf(identity), undefined) };
}

async function called(url: string, did: string, link?: Link, settings: object = {}): Promise<RemoteAgent> {
  const peer = await connect(url, {
    protocols: [anp],
    identity: ann,
    settings: { anp: { legacySession: true, peer: did, ...settings } },
    discoveryCache: new DiscoveryCache(),
    ...(link === undefined ? {} : { link }),
  });
  closing.push(() => peer.close());
  return peer;
}

/** The frames of a client that is answered once. */
async function captured(url: string, did: string): Promise<string[]> {
  const sent: string[] = [];
  const peer = await called(url, did, tamperingLink(pass, sent));
  expect(await peer.ask("hi")).toBe(`hi did:${annDid} ${annDid}`);
  return sent;
}

async function refusalOf(url: string, ...frames: readonly string[]): Promise<unknown> {
  const session = await RawSession.open(url, { subprotocols: [] });
  closing.push(async () => session.destroy());
  for (const frame of frames) session.send(frame);
  const { type, originalType, detail } = await session.next();
  const { code, reason } = await session.closed;
  return { type, originalType, detail, code, reason };
}

describe("the old session", () => {
  test("is off by default: a caller that asks for it is refused by name, and counted", async () => {
    const { url, did } = await served();
    const [hello = ""] = await captured(url, did);
    log = [];
    const off = await served({ settings: {} });
    expect(await refusalOf(off.url, hello)).toEqual({
      type: "response",
      originalType: "sourceHello",
      detail: expect.stringMatching(/^legacy_session_off: /),
      code: 1008,
      reason: "legacy_session_off",
    });
    expect(refusals()).toEqual([expect.stringMatching(/^downgrade_refused handshake refused \(legacy_session_off\)/)]);
    const document = await fetch(`${off.url.replace("ws", "http").replace("/ws", "")}/v1/did/${encodeURIComponent(did)}`);
    expect(document.status).toBe(404);
  });

  test("is not opened by a client that has not switched it on, whatever the peer offers", async () => {
    const { url, did } = await served();
    const sent: string[] = [];
    const link = tamperingLink(pass, sent);
    const peer = await called(url, did, link, { legacySession: false });
    expect(peer.version).toBe("1.2");
    await expect(peer.ask("secret")).rejects.toMatchObject({ code: "handshake_failed", facts: { sent: "no" } });
    expect(sent.filter((frame) => frame.includes("sourceHello"))).toEqual([]);
    const ids = { now: Date.now, newId: () => "id" };
    const legacy = { url, version: "legacy", binding: "WS", card: peer.card };
    const client = connectClient({ ...createClientContext({ link, ids, settings: { anp: { peer: did } } }), peer: legacy });
    sent.splice(0);
    await expect(client.handler({ kind: "ping" }, startCall())).rejects.toMatchObject({
      code: "downgrade_refused",
      facts: { sent: "no", detail: { reason: "legacy_session_off" } },
    });
    expect(sent).toEqual([]);
  });

  test("does not stand in for a DID that it cannot prove", async () => {
    const { url } = await served();
    const sent: string[] = [];
    const peer = await called(url, "did:wba:agents.example:desk", tamperingLink(pass, sent));
    await expect(peer.ask("secret")).rejects.toMatchObject({
      code: "downgrade_refused",
      facts: { sent: "no", detail: { reason: "legacy_session" } },
    });
    expect(sent).toEqual([]);
  });

  test("gives no signature and no end-to-end protection, and says so", async () => {
    const { url, did } = await served();
    const options = {
      protocols: [anp],
      settings: { anp: { legacySession: true, peer: did } },
      discoveryCache: new DiscoveryCache(),
    };
    for (const [require, isKept] of [
      ["encrypted", true],
      ["identity", true],
      ["signed", false],
      ["end-to-end", false],
    ] as const) {
      const peer = await connect(url, { ...options, require: [require] });
      closing.push(() => peer.close());
      const answer = peer.ask("hi").then(
        () => true,
        (thrown: { code: string }) => thrown.code,
      );
      expect([require, await answer]).toEqual([require, isKept ? true : "downgrade_refused"]);
    }
  });

  test("needs a key of its kind that outlives the server", async () => {
    const ed25519 = createIdentity({ name: "host", did: "did:web:agents.example" });
    await expect(serve(who, { protocols: [anp], identity: ed25519, settings: ON })).rejects.toMatchObject({
      code: "invalid_message",
      facts: { field: "legacySession" },
    });
  });

  test("publishes the document of its DID, and of no other", async () => {
    const { url, did } = await served();
    const { host } = new URL(url);
    const at = (named: string): string => `http://${host}/v1/did/${encodeURIComponent(named)}`;
    const document = await (await fetch(at(`${did}@${host}`))).json();
    expect(document).toMatchObject({
      id: `${did}@${host}`,
      verificationMethod: [{ type: "EcdsaSecp256r1VerificationKey2019", publicKeyHex: expect.stringMatching(/^0404/) }],
      service: [{ type: "messageService", serviceEndpoint: url }],
      proof: { proofValue: expect.any(String) },
    });
    for (const other of [annDid, `${did}@elsewhere.example`]) expect((await fetch(at(other))).status).toBe(404);
  });
});

describe("a hello of the old session", () => {
  test.each([
    ["that is repeated", (hello: string) => hello, "replayed"],
    [
      "for another DID",
      (hello: string) => hello.replace(/"destinationDid":"[^"]+"/, `"destinationDid":"${annDid}"`),
      "bad_signature",
    ],
    ["with another key", (hello: string) => hello.replace(/"publicKeyHex":"04[^"]{4}/, '"publicKeyHex":"040000'), "unknown_key"],
    ["with another share", (hello: string) => hello.replace(/"random":"../, '"random":"zz'), "malformed"],
    ["without its cipher", (hello: string) => hello.replace("TLS_AES_128_GCM_SHA256", "TLS_NULL"), "unsupported_profile"],
  ])("%s is refused", async (_, change, reason) => {
    const { url, did } = await served();
    const [hello = ""] = await captured(url, did);
    log = [];
    expect(await refusalOf(url, change(hello))).toMatchObject({ type: "response", code: 1008, reason });
    expect(refusals()).toHaveLength(1);
  });

  test("of another time is refused", async () => {
    let ahead = 0;
    const { url, did } = await served({ ids: { now: () => Date.now() + ahead, newId: () => crypto.randomUUID() } });
    const [hello = ""] = await captured(url, did);
    ahead = 40_000;
    expect(await refusalOf(url, hello)).toMatchObject({ reason: "not_of_now" });
  });

  test("whose sender does not have its key ends with the handshake", async () => {
    const { url, did } = await served();
    const [hello = ""] = await captured(url, did);
    const other = await served();
    const session = await RawSession.open(other.url, { subprotocols: [] });
    closing.push(async () => session.destroy());
    session.send(hello);
    expect(await session.next()).toMatchObject({ type: "destinationHello", sourceDid: did, destinationDid: annDid });
    const { sessionId } = JSON.parse(hello) as { sessionId: string };
    const verifyData = { iv: "AAAAAAAAAAAAAAAA", tag: "AAAAAAAAAAAAAAAAAAAAAA==", ciphertext: "AAAA" };
    session.send({ type: "finished", sessionId, sourceDid: annDid, destinationDid: did, verifyData });
    expect(await session.closed).toMatchObject({ code: 1008, reason: "bad_finish" });
  });
});

describe("a message of the old session", () => {
  const isMessage = (frame: string): boolean => frame.includes('"type":"message"');
  const flipped = (frame: string): string =>
    frame.replace(/"ciphertext":"(.)/, (_, first) => `"ciphertext":"${first === "A" ? "B" : "A"}`);

  test.each<[string, Tamper, string]>([
    ["that is altered", (frame, _, send) => send(isMessage(frame) ? flipped(frame) : frame), "altered"],
    ["that is cut", (frame, _, send) => send(isMessage(frame) ? frame.slice(0, -20) : frame), "malformed"],
    ["of another sender", (frame, _, send) => send(isMessage(frame) ? frame.replace(annDid, `${annDid}@x`) : frame), "malformed"],
  ])("%s ends the session, and is counted", async (_, tamper, problem) => {
    const { url, did } = await served();
    const peer = await called(url, did, tamperingLink(tamper));
    await expect(peer.ask("hi")).rejects.toMatchObject({ code: "interrupted" });
    expect(refusals()).toEqual([`bad_signature message refused: ${problem}`]);
  });

  test("that is repeated is refused, though the format has no counter", async () => {
    const { url, did } = await served();
    const twice: Tamper = (frame, _, send) => {
      send(frame);
      if (isMessage(frame)) send(frame);
    };
    const peer = await called(url, did, tamperingLink(twice));
    await peer.ask("hi").catch(() => undefined); // the answer may be sent before the copy arrives
    await expect.poll(refusals).toEqual(["bad_signature message refused: replayed"]);
  });

  test("of the server that is altered is refused by the client", async () => {
    const { url, did } = await served();
    const answers: Tamper = (frame, _, send) => send(isMessage(frame) ? flipped(frame) : frame);
    const peer = await called(url, did, tamperingLink(pass, [], answers));
    await expect(peer.ask("hi")).rejects.toMatchObject({ code: "interrupted" });
  });
});
