import { afterEach, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { agent, connect, DiscoveryCache, type Loss, type RemoteAgent, type ServeOptions, serve } from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import { type AuditEntry, bearerTokens } from "../../src/public/auth.js";
import { RawSession } from "../session-toy/raw-session.js";

/** The seeds' plain form over WebSocket, with peers that have nothing of Koine. */

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Message = Record<string, unknown> & { payload?: { text?: string }; request_id?: string };

/** A server that has only `/ws`. What `answer` returns is sent, text as it is. */
async function stub(answer: (message: Message, send: (message: unknown) => void) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", path: "/ws" });
  await new Promise((resolve) => server.once("listening", resolve));
  server.on("connection", (socket) => {
    const send = (message: unknown): void =>
      socket.send(typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message));
    socket.on("message", (data) => answer(JSON.parse(String(data)), send));
  });
  closing.push(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return `ws://127.0.0.1:${(server.address() as { port: number }).port}/ws`;
}

async function called(url: string, losses: Loss[] = []): Promise<RemoteAgent> {
  const peer = await connect(url, { discoveryCache: new DiscoveryCache(), onLoss: (loss) => losses.push(loss) });
  closing.push(() => peer.close());
  return peer;
}

const answerTo = ({ request_id, payload }: Message) => ({
  type: "anp_response",
  request_id,
  payload: { content: { text: `noted: ${payload?.text}` }, context: {}, metadata: {} },
  timestamp: 1,
});

describe("a server that has only /ws", () => {
  test("is found, called with the members of the alignment table, and what is lost is reported", async () => {
    const heard: Message[] = [];
    const url = await stub((message, send) => {
      heard.push(message);
      send(message["type"] === "ping" ? { type: "pong", request_id: message.request_id } : answerTo(message));
    });
    const losses: Loss[] = [];
    const peer = await called(url, losses);
    expect([peer.protocol, peer.version, peer.binding, peer.verified]).toEqual(["anp", "plain", "WS", false]);
    expect(await peer.health()).toBe(true);
    expect(await peer.ask("hello", { session: "s-1", key: "k-1", priority: 3 })).toBe("noted: hello");
    expect(heard.at(-1)).toMatchObject({
      type: "anp_message",
      request_id: expect.any(String),
      source_id: expect.any(String),
      protocol_type: "APPLICATION",
      payload: { text: "hello", context: { session_id: "s-1", idempotency_key: "k-1" } },
    });
    expect(losses.map(({ path }) => path)).toEqual(["context.priority"]);
    await expect(peer.getTask("t")).rejects.toMatchObject({ code: "unsupported_method" });
    expect(await peer.start("work")).toMatchObject({ kind: "message", message: { content: [{ text: "noted: work" }] } });
    expect(losses.at(-1)?.path).toBe("operation.delivery=accepted");
  });

  test("answers several messages in any order, in other forms, or without saying which", async () => {
    const held: (() => void)[] = [];
    const url = await stub((message, send) => {
      const text = message.payload?.text;
      if (text === "words") return send("only words");
      if (text === "bytes") return send(Buffer.concat([Buffer.of(0x80), Buffer.from("natural words")]));
      if (text === "typed") return send(Buffer.concat([Buffer.of(0x40), Buffer.from(JSON.stringify(answerTo(message)))]));
      if (text === "wrong") return send({ type: "error", request_id: message.request_id, error: "no such thing" });
      held.push(() => send(answerTo(message)));
      if (held.length === 2) for (const each of held.splice(0).reverse()) each();
    });
    const peer = await called(url);
    expect(await Promise.all([peer.ask("one"), peer.ask("two")])).toEqual(["noted: one", "noted: two"]);
    expect(await peer.ask("words")).toBe("only words");
    expect(await peer.ask("bytes")).toBe("natural words");
    expect(await peer.ask("typed")).toBe("noted: typed");
    await expect(peer.ask("wrong")).rejects.toMatchObject({ code: "internal", message: "no such thing" });
  });

  test("starts messages of its own, which reach receive", async () => {
    const url = await stub((message, send) => {
      send(answerTo(message));
      send({ type: "anp_message", request_id: "own", source_did: "did:wba:x:y", payload: { content: { text: "by the way" } } });
    });
    const peer = await called(url);
    const received = peer.receive()[Symbol.asyncIterator]();
    const first = received.next();
    await peer.ask("hello");
    expect((await first).value).toMatchObject({ id: "own", src: "did:wba:x:y", content: [{ text: "by the way" }] });
    await received.return?.();
  });

  test("gets no message that is signed or sealed, and none by a DID", async () => {
    const heard: Message[] = [];
    const url = await stub((message, send) => {
      heard.push(message);
      send(answerTo(message));
    });
    const required = await connect(url, { require: ["encrypted"], discoveryCache: new DiscoveryCache() });
    closing.push(() => required.close());
    // On this machine nobody is on the way, but nothing proves who answers.
    const identified = await connect(url, { require: ["identity"], discoveryCache: new DiscoveryCache() });
    closing.push(() => identified.close());
    await expect(identified.ask("secret")).rejects.toMatchObject({ code: "downgrade_refused", facts: { sent: "no" } });
    const named = await connect(url, {
      settings: { anp: { peer: "did:wba:agents.example:desk" } },
      discoveryCache: new DiscoveryCache(),
    });
    closing.push(() => named.close());
    await expect(named.ask("secret")).rejects.toMatchObject({
      code: "downgrade_refused",
      facts: { sent: "no", detail: { reason: "plain_form" } },
    });
    expect(heard).toEqual([]);
  });
});

const desk = agent({
  name: "desk",
  description: "answers",
  handle: (message) => {
    if (message.text === "fail") throw new Error("secret reason");
    return `noted: ${message.text} ${message.src}`;
  },
});

async function served(options: ServeOptions = {}): Promise<string> {
  const server = await serve(desk, { protocols: [anp], ...options });
  closing.push(() => server.close());
  return `ws://127.0.0.1:${server.port}/ws`;
}

async function opened(url: string, headers: Record<string, string> = {}): Promise<RawSession> {
  const session = await RawSession.open(url, { subprotocols: [], headers });
  closing.push(async () => session.destroy());
  return session;
}

describe("Koine at /ws", () => {
  test("answers messages in their form, and pings", async () => {
    const session = await opened(await served());
    session.send({ type: "ping", request_id: "p", timestamp: 1 });
    expect(await session.next()).toMatchObject({
      type: "pong",
      request_id: "p",
      ping_timestamp: 1,
      pong_timestamp: expect.any(Number),
    });
    session.send({
      type: "anp_message",
      request_id: "r-1",
      source_id: "ann",
      payload: { text: "hi", context: { trace_id: "t" } },
    });
    expect(await session.next()).toMatchObject({
      type: "anp_response",
      request_id: "r-1",
      payload: { content: { text: "noted: hi ann" }, metadata: { via: "anp_server" } },
    });
    session.send({ request_id: "r-2", protocol_type: "NATURAL", source_did: "did:wba:x:y", payload: { content: "hi" } });
    expect(await session.next()).toMatchObject({
      request_id: "r-2",
      protocol_type: "NATURAL",
      payload: { content: { text: "noted: hi did:wba:x:y" } },
    });
    session.send(Buffer.concat([Buffer.of(0x80), Buffer.from("hi")]));
    const natural = await session.nextBytes();
    expect([natural[0], natural.subarray(1).toString()]).toEqual([0x80, expect.stringMatching(/^noted: hi/)]);
  });

  test("declines negotiation by text in its own form", async () => {
    const session = await opened(await served());
    const proposal = { action: "protocolNegotiation", sequenceId: 0, candidateProtocols: "# a protocol", status: "negotiating" };
    session.send({ request_id: "m-1", protocol_type: "META", payload: proposal });
    expect(await session.next()).toMatchObject({
      request_id: "m-1",
      protocol_type: "META",
      payload: { action: "protocolNegotiation", sequenceId: 1, status: "rejected" },
    });
    session.send(Buffer.concat([Buffer.of(0x00), Buffer.from(JSON.stringify(proposal))]));
    const typed = await session.nextBytes();
    expect([typed[0], JSON.parse(typed.subarray(1).toString())]).toEqual([0x00, expect.objectContaining({ status: "rejected" })]);
  });

  test.each([
    ["no JSON", "{nothing", undefined, "decode"],
    ["no payload", { request_id: "r" }, "r", "invalid_message"],
    ["another kind", { request_id: "r", protocol_type: "OTHER", payload: "x" }, "r", "invalid_message"],
    ["an unknown kind of byte", Buffer.of(0xc0, 0x7b), undefined, "invalid_message"],
    ["an answer to nothing", { type: "anp_response", request_id: "r", payload: "x" }, undefined, "invalid_message"],
    ["a failure of the agent", { request_id: "r", payload: "fail" }, "r", "internal"],
  ])("says in its own form what is wrong with %s, and goes on", async (_, message, requestId, code) => {
    const session = await opened(await served());
    session.send(message as string);
    const error = await session.next();
    expect(error).toMatchObject({ type: "error", code, error: expect.not.stringContaining("secret") });
    expect(error["request_id"]).toBe(requestId);
    session.send({ request_id: "after", payload: "hi" });
    expect(await session.next()).toMatchObject({ request_id: "after", type: "anp_response" });
  });

  test("admits whom the host admits, and reports whom it refuses", async () => {
    const log: AuditEntry[] = [];
    const audit = { record: (entry: AuditEntry) => void log.push(entry), close: async () => undefined };
    const url = await served({ admission: bearerTokens(new Map([["ann", "a-long-secret-token-of-ann"]])), audit });
    const known = await opened(url, { authorization: "Bearer a-long-secret-token-of-ann" });
    known.send({ request_id: "r", payload: "hi" });
    expect(await known.next()).toMatchObject({ type: "anp_response" });
    // Before the session is open: nothing that a message of the plain form has proves who sent it.
    await expect(opened(url)).rejects.toMatchObject({ status: 401 });
    expect(log.filter(({ event }) => event === "refused").map(({ code }) => code)).toEqual(["unauthenticated"]);
  });

  test("is called in the plain form by whoever asks for it, and else by what its description has", async () => {
    const url = await served();
    const options = { protocols: [anp], discoveryCache: new DiscoveryCache() };
    for (const [pin, found] of [
      ["anp@plain/WS", "plain WS"],
      ["anp", "1.2 JSONRPC"],
    ] as const) {
      const peer = await connect(url, { ...options, pin });
      closing.push(() => peer.close());
      expect([`${peer.version} ${peer.binding}`, await peer.ask("hi")]).toEqual([found, expect.stringMatching(/^noted: hi/)]);
    }
  });

  test("sends messages of the server to a caller with a session", async () => {
    let owner = "";
    const who = agent({
      name: "who",
      description: "remembers",
      handle: (_, task) => {
        owner = task.owner;
        return "noted";
      },
    });
    const server = await serve(who, { protocols: [anp] });
    closing.push(() => server.close());
    const session = await opened(`ws://127.0.0.1:${server.port}/ws`);
    session.send({ request_id: "r", payload: "hi" });
    await session.next();
    await server.say(owner, {
      id: "n",
      ts: 1,
      src: "desk",
      dst: "",
      intent: "",
      role: "agent",
      content: [{ kind: "text", text: "news" }],
      context: {},
      meta: {},
    });
    expect(await session.next()).toMatchObject({ type: "anp_message", payload: { text: "news" } });
  });
});
