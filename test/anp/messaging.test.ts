import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startCall } from "../../src/envelope/index.js";
import { agent, connect, DiscoveryCache, type ServeOptions, serve } from "../../src/index.js";
import { writeOriginProof } from "../../src/protocols/anp/authentication/origin-proof.js";
import { connect as connectClient } from "../../src/protocols/anp/client.js";
import { didWba } from "../../src/protocols/anp/identity/did-wba.js";
import { anp } from "../../src/protocols/anp/index.js";
import { createClientContext } from "../../src/protocols/client-context.js";
import { MessageInbox } from "../../src/protocols/inbox.js";
import { createResolver, type LocalIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { poolLink } from "../../src/transport/node/index.js";
import { boundIdentity, DidDirectory, freePort, LOOPBACK } from "./directory.js";

/** Direct messages with the proof of their author, negotiation, and the seeds' plain form. */

const closing: (() => Promise<unknown>)[] = [];
let directory: DidDirectory;
beforeAll(async () => {
  directory = await DidDirectory.open();
});
afterAll(() => directory.close());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function served(options: ServeOptions = {}) {
  const port = await freePort();
  const identity = options.identity ?? boundIdentity(port, "desk");
  const heard: string[] = [];
  const desk = agent({
    name: "desk",
    description: "takes messages",
    handle(message) {
      heard.push(`${message.src} ${message.text}`);
      return `noted: ${message.text}`;
    },
  });
  const server = await serve(desk, { protocols: [anp], port, settings: LOOPBACK, ...options, identity });
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${port}`, did: identity.did, heard };
}

async function rpc(
  url: string,
  method: string,
  params: object,
): Promise<{ result?: Record<string, unknown>; error?: { code: number; data: { anp_code: string; code: string } } }> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: "q-1", method, params });
  const response = await fetch(`${url}/anp/rpc`, { method: "POST", headers: { "content-type": "application/json" }, body });
  return (await response.json()) as Awaited<ReturnType<typeof rpc>>;
}

async function direct(author: LocalIdentity, to: string, text: string, operation = "o-1") {
  const meta = {
    profile: "anp.direct.base.v1",
    security_profile: "transport-protected",
    sender_did: author.did,
    target: { kind: "agent", did: to },
    operation_id: operation,
    message_id: `m-${operation}`,
    created_at: "2026-01-02T03:04:05Z",
    content_type: "text/plain",
  };
  const body = { conversation_id: "s-1", text };
  return { meta, body, auth: await writeOriginProof({ method: "direct.send", meta, body }, author, Date.now) };
}

describe("direct.send", () => {
  test("is accepted with the proof of its author, once for each operation", async () => {
    const { url, did, heard } = await served();
    const ann = await directory.create("ann");
    const message = await direct(ann, did, "hello");
    const first = await rpc(url, "direct.send", message);
    expect(first.result).toMatchObject({ accepted: true, message_id: "m-o-1", operation_id: "o-1", target_did: did });
    expect(await rpc(url, "direct.send", message)).toEqual(first);
    await expect.poll(() => heard).toEqual([`${ann.did} hello`]);
    const other = await rpc(url, "direct.send", await direct(ann, did, "bye"));
    expect(other.error).toMatchObject({ code: 1008, data: { anp_code: "anp.idempotency_conflict" } });
  });

  test("is delivered by one of two replicas over the same guard", async () => {
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
    const shared = { replay, publicUrl: "http://localhost:1", identity: boundIdentity(1, "desk") };
    const [one, two] = [await served(shared), await served(shared)];
    const message = await direct(await directory.create("ann"), one.did, "hello");
    expect((await rpc(one.url, "direct.send", message)).result).toMatchObject({ accepted: true });
    expect((await rpc(two.url, "direct.send", message)).result).toMatchObject({ accepted: true, operation_id: "o-1" });
    await rpc(two.url, "direct.send", await direct(await directory.create("bob"), one.did, "last"));
    await expect.poll(() => [one.heard.length, two.heard.map((each) => each.split(" ")[1])]).toEqual([1, ["last"]]);
  });

  test("is refused if it was changed, is of another author, has no proof, or is for somebody else", async () => {
    const { url, did, heard } = await served();
    const [ann, bob] = [await directory.create("ann"), await directory.create("bob")];
    const message = await direct(ann, did, "hello");
    const changed = { ...message, body: { ...message.body, text: "hallo" } };
    expect((await rpc(url, "direct.send", changed)).error).toMatchObject({ code: 1005, data: { code: "bad_signature" } });
    const claimed = { ...message, meta: { ...message.meta, sender_did: bob.did } };
    expect((await rpc(url, "direct.send", claimed)).error).toMatchObject({ data: { code: "bad_signature" } });
    const { auth: _, ...unproven } = message;
    expect((await rpc(url, "direct.send", unproven)).error).toMatchObject({ data: { code: "bad_signature" } });
    const elsewhere = await direct(ann, bob.did, "hello");
    expect((await rpc(url, "direct.send", elsewhere)).error).toMatchObject({ code: 1007 });
    expect(heard).toEqual([]);
  });

  test("is answered by another message, which settles the call that waits for it", async () => {
    const { url, did } = await served();
    const ann = await directory.create("waiting");
    const inbox = new MessageInbox({ limit: 10, address: ann.did });
    const link = poolLink();
    closing.push(() => link.close());
    const resolver = createResolver({ methods: [didWba({ loopbackHttp: true })], from: "loopback" });
    const ids = { now: Date.now, newId: () => crypto.randomUUID() };
    const context = createClientContext({ link, ids, identity: ann, inbox, resolver, settings: LOOPBACK });
    const card = (await connect(url, { protocols: [anp], discoveryCache: new DiscoveryCache() })).card;
    const peer = { url: `${url}/anp/rpc?did=${encodeURIComponent(did)}`, card, version: "1.2", binding: "DIRECT" };
    const client = connectClient({ ...context, peer });
    const envelope = {
      id: "m-77",
      ts: 0,
      src: "",
      dst: "desk",
      intent: "",
      role: "user" as const,
      content: [{ kind: "text" as const, text: "hello" }],
      context: {},
      meta: {},
    };
    const answer = client.handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall());
    const reply = { ...envelope, id: "m-78", role: "agent" as const, context: { parentId: "m-77" } };
    inbox.deliver(reply, { id: did, scheme: "did", scopes: [], owner: did }, "m-77");
    expect(await answer).toMatchObject({ kind: "message", message: { id: "m-78" } });
  });
});

describe("the meta-protocol", () => {
  test("names capabilities and negotiates by rules alone", async () => {
    const { url, did } = await served();
    expect((await rpc(url, "anp.get_capabilities", {})).result).toMatchObject({
      service_did: did,
      supported_security_profiles: ["transport-protected"],
    });
    const meta = { profile: "anp.meta.negotiation.v1", security_profile: "transport-protected" };
    const ask = (body: object) =>
      rpc(url, "anp.negotiate", { meta, body: { negotiation_id: "n", intent: { name: "talk" }, ...body } });
    const accepted = await ask({ callerCapabilities: { supportedExecutionModes: ["stream", "async_task"] } });
    expect(accepted.result).toMatchObject({
      status: "accepted",
      execution: { mode: "stream" },
      selected: { url: `${url}/anp/rpc` },
    });
    const again = await ask({ callerCapabilities: { supportedExecutionModes: ["async_task", "stream"] } });
    expect(again.result?.["negotiationDigest"]).toBe(accepted.result?.["negotiationDigest"]);
    expect((await ask({ requiredCapabilities: ["fly"] })).result).toMatchObject({ status: "rejected" });
    expect((await rpc(url, "anp.negotiate", { meta, body: {} })).error).toMatchObject({ code: -32602 });
  });
});

describe("the plain form of the seeds", () => {
  test("is answered with the request id, in both spellings of the content", async () => {
    const { url, heard } = await served();
    const post = async (body: object) =>
      (
        await fetch(`${url}/anp/message`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        })
      ).json();
    const sent = {
      type: "anp_message",
      request_id: "r-1",
      payload: { text: "one", context: { trace_id: "t-1" } },
      timestamp: 1,
      source_id: "anp_client",
    };
    expect(await post(sent)).toMatchObject({
      type: "anp_response",
      request_id: "r-1",
      payload: { content: { text: "noted: one" }, metadata: { via: "anp_server" } },
    });
    const converted = {
      request_id: "r-2",
      source_did: "did:x:y",
      target_did: "z",
      payload: { content: { text: "two" }, metadata: {} },
    };
    expect(await post(converted)).toMatchObject({ request_id: "r-2", payload: { content: { text: "noted: two" } } });
    expect(heard).toHaveLength(2);
    expect(await post({ request_id: "r-3" })).toMatchObject({ error: "payload is missing" });
  });

  test("is called where a card of the seeds names it", async () => {
    const { url } = await served();
    const link = poolLink();
    closing.push(() => link.close());
    const peer = {
      url,
      card: (await connect(url, { protocols: [anp], discoveryCache: new DiscoveryCache() })).card,
      version: "1.2",
      binding: "PLAIN",
    };
    const ids = { now: Date.now, newId: () => crypto.randomUUID() };
    const client = connectClient({ ...createClientContext({ link, ids }), peer });
    const envelope = {
      id: "r-9",
      ts: 0,
      src: "",
      dst: "desk",
      intent: "",
      role: "user" as const,
      content: [{ kind: "text" as const, text: "hi" }],
      context: {},
      meta: {},
    };
    const answer = await client.handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall());
    expect(answer).toMatchObject({ kind: "message", message: { content: [{ text: "noted: hi" }] } });
  });
});
