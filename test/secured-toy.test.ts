import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  AgentError,
  agent,
  bridge,
  type ConnectOptions,
  connect,
  DiscoveryCache,
  openSqliteStore,
  type RemoteAgent,
  type ServeOptions,
  serve,
} from "../src/index.js";
import { protocols } from "../src/public/protocols.js";
import type { Identity, LocalIdentity } from "../src/security/identity/index.js";
import { poolLink } from "../src/transport/node/index.js";
import { makeRequest } from "../src/transport/request.js";
import { Directory } from "./secured-toy/directory.js";
import { securedToy } from "./secured-toy/index.js";
import { pass, type Tamper, tamperingLink } from "./secured-toy/tampering-link.js";
import { PATH, SUBPROTOCOL } from "./secured-toy/wire.js";
import { RawSession } from "./session-toy/raw-session.js";

/** Identities, signatures and seals of a protocol that is built from the contract and `src/security` alone, under attack. */

const PIN = "secured-toy@1/WS";
const registry = [...protocols, securedToy];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const worker = agent({
  name: "worker",
  description: "says who called",
  handle: (message, task) => (message.text === "who" ? task.owner : `you said: ${message.text}`),
});

const directory = new Directory();
const host = directory.create("host");

async function served(options: ServeOptions = {}): Promise<string> {
  const server = await serve(worker, { protocols: registry, identity: host, resolver: directory.resolver(), ...options });
  closing.push(() => server.close());
  return server.url;
}

async function called(url: string, identity: LocalIdentity | undefined, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const peer = await connect(url, {
    protocols: registry,
    pin: PIN,
    discoveryCache: new DiscoveryCache(),
    resolver: directory.resolver(),
    ...(identity === undefined ? {} : { identity }),
    ...options,
  });
  closing.push(() => peer.close());
  return peer;
}

const codeOf = (thrown: unknown): string => AgentError.from(thrown).code;
const UNAUTHENTICATED = { code: "unauthenticated" };

describe("an identity", () => {
  test("is the caller, in sessions and in signed requests", async () => {
    const peer = await called(await served(), directory.create("ann"));
    expect(await peer.ask("who")).toBe("did:did:memo:ann");
    await expect(peer.getTask("none")).rejects.toMatchObject({ code: "task_not_found" });
  });

  test("that is rotated is accepted with both keys until the overlap ends", async () => {
    const url = await served();
    const old = directory.create("rotating");
    const young = old.rotated({ overlapMs: 60_000 });
    directory.publish(young);
    for (const each of [old, young]) expect(await (await called(url, each)).ask("who")).toBe("did:did:memo:rotating");
    const last = young.rotated({ overlapMs: 0 });
    directory.publish(last);
    await expect((await called(url, young)).ask("who")).rejects.toMatchObject(UNAUTHENTICATED);
    expect(await (await called(url, last)).ask("who")).toBe("did:did:memo:rotating");
  });

  test("that is revoked or deactivated is refused, in sessions and in signed requests", async () => {
    const url = await served();
    const lost = directory.create("lost");
    const before = await called(url, lost);
    await expect(before.getTask("none")).rejects.toMatchObject({ code: "task_not_found" });
    const [key] = lost.keys();
    directory.publish(lost.rotated({ overlapMs: 0 }).revoked(key?.id ?? ""));
    await expect(before.getTask("none")).rejects.toMatchObject(UNAUTHENTICATED);
    await expect((await called(url, lost)).ask("who")).rejects.toMatchObject(UNAUTHENTICATED);
    const gone = directory.create("gone");
    directory.publish(gone, true);
    await expect((await called(url, gone)).ask("who")).rejects.toMatchObject(UNAUTHENTICATED);
  });

  test("with another clock is refused beyond the skew", async () => {
    const url = await served();
    const ann = directory.create("clock");
    const ids = (ahead: number) => ({ ids: { now: () => Date.now() + ahead, newId: () => crypto.randomUUID() } });
    expect(await (await called(url, ann, ids(2_000))).ask("who")).toBe("did:did:memo:clock");
    for (const ahead of [120_000, -120_000]) {
      const peer = await called(url, ann, ids(ahead));
      await expect(peer.ask("who")).rejects.toMatchObject(UNAUTHENTICATED);
      await expect(peer.getTask("none")).rejects.toMatchObject({ code: expect.stringMatching(/unauthenticated|bad_signature/) });
    }
  });
});

describe("a captured hello", () => {
  const socket = (url: string): string => `${url.replace(/^http/, "ws")}${PATH}?agent=worker`;

  async function captured(url: string): Promise<string> {
    const sent: string[] = [];
    const peer = await called(url, directory.create("captured"), { link: tamperingLink(pass, sent) });
    await peer.ask("who");
    return sent[0] ?? "";
  }

  async function answerTo(url: string, hello: string): Promise<unknown> {
    const session = await RawSession.open(socket(url), { subprotocols: [SUBPROTOCOL] });
    closing.push(async () => session.destroy());
    session.send(hello);
    return session.next();
  }

  const refusedFor = (why: string) => ({ error: { code: "unauthenticated", message: why } });

  test("is not accepted again, nor by another recipient", async () => {
    const [url, other] = [await served(), await served({ identity: directory.create("other") })];
    const hello = await captured(url);
    expect(await answerTo(url, hello)).toEqual(refusedFor("this hello was used before"));
    expect(await answerTo(other, hello)).toEqual(refusedFor("the hello is for another recipient"));
  });

  test("is not accepted by another replica over the same store", async () => {
    const folder = await mkdtemp(join(tmpdir(), "koine-secured-toy-"));
    closing.push(() => rm(folder, { recursive: true }));
    const stores = [0, 1].map(() => openSqliteStore({ file: join(folder, "tasks.sqlite"), now: Date.now }));
    const [one, two] = await Promise.all(stores.map(async (store) => served({ store: await store })));
    const hello = await captured(one ?? "");
    expect(await answerTo(two ?? "", hello)).toEqual(refusedFor("this hello was used before"));
  });

  test("that was changed is refused", async () => {
    const url = await served();
    const hello = await captured(url);
    const changed = hello.replace("did:memo:captured#", "did:memo:host#");
    expect(await answerTo(url, changed)).toEqual(refusedFor("the key is of another DID"));
    const later = hello.replace(/\\"at\\":(\d+)/, (_, at: string) => `\\"at\\":${Number(at) + 1}`);
    expect(later).not.toBe(hello);
    expect(await answerTo(url, later)).toEqual(refusedFor("the signature is wrong"));
  });
});

describe("a sealed record that is", () => {
  let held: string | undefined;
  const flip = (text: string): string => `${text.slice(0, -4)}${text.at(-4) === "A" ? "B" : "A"}${text.slice(-3)}`;
  /** From the first record on: the hello is left alone. */
  const TAMPERS: readonly (readonly [string, Tamper])[] = [
    ["changed", (frame, index, send) => send(index === 0 ? frame : flip(frame))],
    ["cut short", (frame, index, send) => send(index === 0 ? frame : frame.slice(0, -8))],
    ["sent as nothing", (frame, index, send) => send(index === 0 ? frame : "")],
    [
      "repeated",
      (frame, index, send) => {
        send(frame);
        if (index > 0) send(frame);
      },
    ],
    [
      "sent out of order",
      (frame, index, send) => {
        if (index === 1) held = frame;
        else send(frame);
        if (index === 2 && held !== undefined) send(held);
      },
    ],
  ];

  test.each(TAMPERS)("%s ends the session, and nothing of it is believed", async (_, tamper) => {
    const peer = await called(await served(), directory.create("sender"), { link: tamperingLink(tamper) });
    const asked = [peer.ask("one"), peer.ask("two")].map((each) => each.then((text) => `answered ${text}`, codeOf));
    const outcomes = await Promise.all(asked);
    expect(outcomes).toContain("interrupted");
    for (const outcome of outcomes) expect(["interrupted", "answered you said: one"]).toContain(outcome);
  });

  test("seen on the way shows nothing of what is said", async () => {
    const sent: string[] = [];
    const peer = await called(await served(), directory.create("quiet"), { link: tamperingLink(pass, sent) });
    expect(await peer.ask("a very secret word")).toBe("you said: a very secret word");
    expect(sent).toHaveLength(2);
    const record = Buffer.from(sent[1] ?? "", "base64url");
    expect(record.length).toBeGreaterThan(100);
    expect(record.includes("secret") || sent.join().includes("secret")).toBe(false);
  });
});

describe("a signed request", () => {
  test("that is sent again or changed is refused", async () => {
    const url = await served();
    const link = poolLink();
    const requests: { headers: Record<string, string | undefined>; body: Uint8Array }[] = [];
    const watching = {
      ...link,
      exchange: (request: Parameters<typeof link.exchange>[0]) => {
        const { signer } = request;
        // Discovery signs its requests, too, for protocols that have no identities of their own.
        if (signer === undefined || request.method !== "POST" || request.path !== PATH) return link.exchange(request);
        return link.exchange(
          makeRequest({
            method: request.method,
            url: request.target,
            headers: request.headers,
            body: request.body,
            call: request.call,
            signer: {
              async sign(final) {
                const fields = await signer.sign(final);
                requests.push({ headers: { ...final.headers, ...fields }, body: final.body });
                return fields;
              },
              ...(signer.verify === undefined ? {} : { verify: signer.verify }),
            },
          }),
        );
      },
      close: () => link.close(),
    };
    const peer = await called(url, directory.create("signer"), { link: watching });
    await expect(peer.getTask("none")).rejects.toMatchObject({ code: "task_not_found" });
    // The first one got a challenge, the second one answered it; later ones take one request.
    expect(requests).toHaveLength(2);
    await expect(peer.getTask("none")).rejects.toMatchObject({ code: "task_not_found" });
    expect(requests).toHaveLength(3);
    const { headers, body } = requests[1] ?? { headers: {}, body: new Uint8Array() };
    const send = async (change: { headers?: Record<string, string | undefined>; body?: Uint8Array }): Promise<string> => {
      const response = await fetch(`${url}${PATH}`, {
        method: "POST",
        headers: Object.entries({ ...headers, ...change.headers }).flatMap(([name, value]) =>
          value === undefined || name === "host" || name === "content-length" ? [] : [[name, value] as [string, string]],
        ),
        body: Buffer.from(change.body ?? body),
      });
      const { error } = (await response.json()) as { error?: { message: string } };
      return `${response.status} ${error?.message}`;
    };
    expect(await send({})).toBe("401 this signature was used before");
    const other = new TextEncoder().encode(new TextDecoder().decode(body).replace("none", "some"));
    expect(await send({ body: other })).toMatch(/^401 .*(digest|body)/i);
    expect(await send({ headers: { "content-type": "text/plain" } })).toBe("401 the signature does not match the message");
    expect(await send({ headers: { "signature-input": undefined } })).toMatch(/^401 /);
  });
});

describe("what a caller with a DID says", () => {
  const OTHERS = ["a2a@1.0/JSONRPC", "acp@0.2/REST", "agora@0.2/HTTP"];
  const opening = (until: string) => ({
    openings: [{ lowers: ["encrypted", "signed", "identity"] as const, reason: "the agent is being replaced", until }],
  });

  async function through(pin: string, options: Parameters<typeof bridge>[1] = {}): Promise<RemoteAgent> {
    const upstream = await serve(worker, { protocols: registry });
    closing.push(() => upstream.close());
    const bridged = await bridge(upstream.url, { protocols: registry, pin, discoveryCache: new DiscoveryCache(), ...options });
    closing.push(() => bridged.close());
    const gateway = await serve(bridged, { protocols: registry, identity: host, resolver: directory.resolver() });
    closing.push(() => gateway.close());
    return called(gateway.url, directory.create("caller"));
  }

  test.each(OTHERS)("is not passed on by %s, which proves less, unless that was opened for a time", async (pin) => {
    await expect((await through(pin)).ask("hello")).rejects.toMatchObject({ code: "downgrade_refused" });
    expect(await (await through(pin, opening("2999-01-01"))).ask("hello")).toBe("you said: hello");
    await expect((await through(pin, opening("2020-01-01"))).ask("hello")).rejects.toMatchObject({ code: "downgrade_refused" });
  });

  test("is passed on by the toy itself, to the host that the operator named", async () => {
    const upstream = await served();
    const gatewayId = directory.create("gateway");
    const known = { identity: gatewayId, resolver: directory.resolver(), settings: { "secured-toy": { peer: host.did } } };
    const bridged = await bridge(upstream, { protocols: registry, pin: PIN, discoveryCache: new DiscoveryCache(), ...known });
    closing.push(() => bridged.close());
    const gateway = await serve(bridged, { protocols: registry, identity: gatewayId, resolver: directory.resolver() });
    closing.push(() => gateway.close());
    const peer = await called(gateway.url, directory.create("far"));
    expect(await peer.ask("who")).toBe("did:did:memo:gateway");
  });

  test.each(OTHERS)("arrives from callers of %s through the toy", async (pin) => {
    const bridged = await bridge(await served(), {
      protocols: registry,
      pin: PIN,
      discoveryCache: new DiscoveryCache(),
      identity: directory.create("bridging"),
      resolver: directory.resolver(),
      settings: { "secured-toy": { peer: host.did } },
      require: ["encrypted", "signed", "identity"],
    });
    closing.push(() => bridged.close());
    const gateway = await serve(bridged, { protocols: registry });
    closing.push(() => gateway.close());
    expect(await (await called(gateway.url, undefined, { pin })).ask("who")).toBe("did:did:memo:bridging");
  });
});

describe("a caller that requires an identity", () => {
  test("gets it only from a host whose DID it named", async () => {
    const url = await served();
    const require = { require: ["identity", "signed"] as const };
    const named = await called(url, directory.create("asks"), { ...require, settings: { "secured-toy": { peer: host.did } } });
    expect(await named.ask("who")).toBe("did:did:memo:asks");
    for (const settings of [{}, { "secured-toy": { peer: "did:memo:other" } }]) {
      const peer = await called(url, directory.create("asks"), { ...require, settings });
      await expect(peer.ask("who")).rejects.toMatchObject({ code: "downgrade_refused" });
    }
  });

  test("is not deceived by a host that shows another's DID", async () => {
    const own = directory.create("liar");
    const shown = (id: string): string => id.replace(own.did, host.did);
    const liar: Identity = {
      name: "liar",
      did: host.did,
      keys: () => own.keys().map((key) => ({ ...key, id: shown(key.id) })),
      sign: (keyId, bytes) => own.sign(keyId.replace(host.did, own.did), bytes),
      agree: (keyId, peer) => own.agree(keyId.replace(host.did, own.did), peer),
    };
    const peer = await called(await served({ identity: liar }), directory.create("victim"));
    await expect(peer.ask("who")).rejects.toMatchObject({ code: "unauthenticated", message: "the signature is wrong" });
    await expect(peer.getTask("none")).rejects.toMatchObject({ code: "bad_signature" });
  });
});
