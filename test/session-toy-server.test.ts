import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { AgentError, connect, DiscoveryCache, type Layer, type Server, serve } from "../src/index.js";
import { type Admission, bearerTokens } from "../src/public/auth.js";
import { type Protocol, protocols } from "../src/public/protocols.js";
import { createHoldingWorker } from "./session-toy/holding-worker.js";
import { provingSessionToy, sessionToy } from "./session-toy/index.js";
import { ask, RawSession } from "./session-toy/raw-session.js";

/** The server side of sessions, as a client of another implementation sees it. */

const worker = createHoldingWorker();
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(options: Parameters<typeof serve>[1] = {}, toy: Protocol = sessionToy): Promise<Server> {
  const server = await serve(worker.agent, { protocols: [...protocols, toy], ...options });
  opened.push(server);
  return server;
}

const sessionsOf = ({ port }: Server): string => `ws://127.0.0.1:${port}/session-toy`;

async function open(server: Server, options: Parameters<typeof RawSession.open>[1] = {}): Promise<RawSession> {
  const session = await RawSession.open(sessionsOf(server), options);
  opened.push(session);
  return session;
}

/** The text of an answer on the wire. */
const said = (id: string, text: string) => ({
  id,
  end: expect.objectContaining({ kind: "message", message: expect.objectContaining({ parts: [{ text }] }) }),
});

describe("a message of a session", () => {
  test.each<[string, string | Uint8Array, object]>([
    ["that is not JSON", "{", { error: { code: "decode", message: expect.any(String) } }],
    [
      "that is no object",
      "[]",
      { error: { code: "invalid_message", message: "message must be an object, not an array", field: "message" } },
    ],
    [
      "that is binary",
      new Uint8Array([123, 125]),
      { error: { code: "unsupported_content", message: "binary messages are not supported" } },
    ],
    [
      "without an id",
      '{"op":"ping"}',
      { error: { code: "invalid_message", message: "id is missing; a string is expected", field: "id" } },
    ],
    [
      "with an unknown operation",
      '{"id":"1","op":"fly"}',
      { id: "1", error: { code: "unsupported_method", message: "the session toy has no operation fly" } },
    ],
    [
      "for an agent that is not here",
      '{"id":"1","op":"ping","agent":"nobody"}',
      { id: "1", error: { code: "not_found", message: "no agent nobody here", field: "agent" } },
    ],
    [
      "with an invalid member",
      '{"id":"1","op":"task.get","args":{"taskId":7}}',
      {
        id: "1",
        error: { code: "invalid_message", message: "args.taskId must be a string, not a number", field: "args.taskId" },
      },
    ],
    [
      "that has passed too many gateways",
      '{"id":"1","op":"ping","hops":9}',
      { id: "1", error: { code: "loop", message: expect.any(String) } },
    ],
  ])("%s is refused, and the next is answered", async (_what, message, refusal) => {
    const session = await open(await start());
    session.send(message);
    expect(await session.next()).toEqual(refusal);
    session.send(ask("2", "still here"));
    expect(await session.next()).toEqual(said("2", "you said: still here"));
  });

  test("with the id of a running call is refused, and the running call goes on", async () => {
    const session = await open(await start());
    const text = `hold ${randomUUID()}`;
    session.send(ask("1", text));
    await worker.began(text);
    session.send(ask("1", "the same id"));
    expect(await session.next()).toEqual({
      error: { code: "conflict", message: "a running call has the id 1", field: "id" },
    });
    worker.letGo(text);
    expect(await session.next()).toEqual(said("1", `let go: ${text}`));
    expect(worker.received("the same id")).toEqual([]);
  });

  test("that cancels ends the answer of that call alone", async () => {
    const session = await open(await start());
    const texts = [`hold one ${randomUUID()}`, `hold two ${randomUUID()}`] as const;
    session.send(ask("1", texts[0]));
    session.send(ask("2", texts[1]));
    await Promise.all(texts.map((text) => worker.began(text)));
    session.send({ cancel: "1" });
    expect(await session.next()).toEqual({ id: "1", error: { code: "cancelled", message: expect.any(String) } });
    worker.letGo(texts[1]);
    expect(await session.next()).toEqual(said("2", `let go: ${texts[1]}`));
  });

  test("that the peer starts reaches the agent, and has no answer", async () => {
    const session = await open(await start());
    const text = `news ${randomUUID()}`;
    const message = { id: "n-1", at: 1, from: "raw", to: "worker", role: "user", parts: [{ text }] };
    session.send({ say: message });
    await worker.began(text);
    expect(worker.received(text).map(({ id, src }) => [id, src])).toEqual([["n-1", "raw"]]);
    session.send(ask("1", "afterwards"));
    expect(await session.next()).toEqual(said("1", "you said: afterwards"));
  });

  test("beyond the running calls of a session is overloaded", async () => {
    const session = await open(await start({ limits: { sessionCalls: 2 } }));
    const texts = [`hold one ${randomUUID()}`, `hold two ${randomUUID()}`] as const;
    session.send(ask("1", texts[0]));
    session.send(ask("2", texts[1]));
    await Promise.all(texts.map((text) => worker.began(text)));
    session.send(ask("3", "too many"));
    expect(await session.next()).toEqual({ id: "3", error: { code: "overloaded", message: expect.any(String) } });
    worker.letGo(texts[0]);
    expect(await session.next()).toEqual(said("1", `let go: ${texts[0]}`));
    session.send(ask("3", "again"));
    expect(await session.next()).toEqual(said("3", "you said: again"));
    worker.letGo(texts[1]);
    expect(await session.next()).toEqual(said("2", `let go: ${texts[1]}`));
    expect(worker.received("too many")).toEqual([]);
  });

  test("is answered before the server closes the session: 1001", async () => {
    const server = await start();
    const session = await open(server);
    const text = `hold ${randomUUID()}`;
    session.send(ask("1", text));
    await worker.began(text);
    const closing = server.close();
    worker.letGo(text);
    expect(await session.next()).toEqual(said("1", `let go: ${text}`));
    expect(await session.closed).toMatchObject({ code: 1001 });
    await closing;
  });

  test("whose sender is gone is cancelled", async () => {
    const cancelled: string[] = [];
    const watching: Layer = (next) => (operation, call) => {
      call.cancel.onCancel(({ code }) => void cancelled.push(`${operation.kind} ${code}`));
      return next(operation, call);
    };
    const session = await open(await start({ layers: [watching] }));
    const texts = [`hold one ${randomUUID()}`, `hold two ${randomUUID()}`] as const;
    session.send(ask("1", texts[0]));
    session.send(ask("2", texts[1]));
    await Promise.all(texts.map((text) => worker.began(text)));
    session.destroy();
    await expect.poll(() => cancelled).toEqual(["send cancelled", "send cancelled"]);
    for (const text of texts) worker.letGo(text);
  });
});

describe("an upgrade request", () => {
  test("for another host or from a foreign web page is refused", async () => {
    const server = await start({ allowedOrigins: ["https://app.example"] });
    const url = sessionsOf(server);
    expect(await RawSession.refused(url, { headers: { host: "evil.example" } })).toMatchObject({ status: 403 });
    expect(await RawSession.refused(url, { headers: { origin: "https://evil.example" } })).toMatchObject({ status: 403 });
    expect(await RawSession.refused(url, { headers: { origin: "null" } })).toMatchObject({ status: 403 });
    const session = await open(server, { headers: { origin: "https://app.example" } });
    session.send(ask("1", "hello"));
    expect(await session.next()).toEqual(said("1", "you said: hello"));
  });

  test("without the subprotocol is refused, and one of several is selected", async () => {
    const server = await start();
    expect(await RawSession.refused(sessionsOf(server), { subprotocols: ["other.1"] })).toMatchObject({ status: 400 });
    expect(await RawSession.refused(sessionsOf(server), { subprotocols: [] })).toMatchObject({ status: 400 });
    const session = await open(server, { subprotocols: ["other.1", "session-toy.1"] });
    session.send(ask("1", "hello"));
    expect(await session.next()).toEqual(said("1", "you said: hello"));
  });

  test("at an address without sessions is refused", async () => {
    const { port } = await start();
    expect(await RawSession.refused(`ws://127.0.0.1:${port}/health`)).toMatchObject({ status: 404 });
  });
});

const TOKENS = new Map([
  ["alice", "alice-token-0123456789"],
  ["bob", "bob-token-0123456789"],
]);
const bearer = (name: string) => ({ headers: { authorization: `Bearer ${TOKENS.get(name)}` } });

describe("the caller of a session", () => {
  test("is admitted by the upgrade request, for all calls in it", async () => {
    const server = await start({ admission: bearerTokens(TOKENS) });
    const refused = await RawSession.refused(sessionsOf(server));
    expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, expect.stringMatching(/^Bearer/)]);
    expect(
      await RawSession.refused(sessionsOf(server), { headers: { authorization: "Bearer wrong-token-0123456789" } }),
    ).toMatchObject({
      status: 401,
    });
    const session = await open(server, bearer("alice"));
    session.send(ask("1", "who"));
    expect(await session.next()).toEqual(said("1", "bearer:alice"));
  });

  test("presents its credentials through connect()", async () => {
    const server = await start({ admission: bearerTokens(TOKENS) });
    const options = { protocols: [sessionToy], discoveryCache: new DiscoveryCache() };
    const peer = await connect(server.url, { ...options, credentials: { bearer: TOKENS.get("bob") ?? "" } });
    opened.push(peer);
    expect(await peer.ask("who")).toBe("bearer:bob");
    const wrong = await connect(server.url, { ...options, credentials: { bearer: "wrong-token-0123456789" } });
    opened.push(wrong);
    await expect(wrong.ask("who")).rejects.toMatchObject({ code: "unauthenticated", facts: { sent: "no" } });
  });

  test("has a quota of sessions of its own", async () => {
    const server = await start({ admission: bearerTokens(TOKENS), limits: { sessionsPerCaller: 2 } });
    const first = await open(server, bearer("alice"));
    await open(server, bearer("alice"));
    const refused = await RawSession.refused(sessionsOf(server), bearer("alice"));
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
    const other = await open(server, bearer("bob"));
    other.send(ask("1", "who"));
    expect(await other.next()).toEqual(said("1", "bearer:bob"));
    first.close();
    await first.closed;
    await expect
      .poll(() =>
        open(server, bearer("alice")).then(
          () => "open",
          ({ status }) => status,
        ),
      )
      .toBe("open");
  });
});

/** Admits bearer tokens by the head, and every DID inside a protocol. */
function tokensAndDids(): Admission {
  const tokens = bearerTokens(TOKENS);
  return Object.assign((head: Parameters<typeof tokens>[0]) => tokens(head), {
    claims: (head: Parameters<typeof tokens>[0]) => head.headers["authorization"] !== undefined,
    identify({ did }: { readonly did: string }) {
      if (did === "did:toy:mallory") throw new AgentError("forbidden", "not this one");
      return { id: did, scheme: "did", scopes: [], owner: `did:${did}` } as const;
    },
  });
}

describe("a caller that proves who it is by its first message", () => {
  const proving = (limits = {}) => start({ admission: tokensAndDids(), limits }, provingSessionToy);

  test("owns what it starts", async () => {
    const session = await open(await proving());
    session.send({ hello: "did:toy:alice" });
    expect(await session.next()).toEqual({ hello: "did:did:toy:alice" });
    session.send(ask("1", "who"));
    expect(await session.next()).toEqual(said("1", "did:did:toy:alice"));
    session.send({ hello: "did:toy:bob" });
    expect(await session.next()).toMatchObject({ error: { code: "conflict" } });
  });

  test("is not asked to if it presents credentials", async () => {
    const server = await proving();
    const session = await open(server, bearer("alice"));
    session.send(ask("1", "who"));
    expect(await session.next()).toEqual(said("1", "bearer:alice"));
    expect(
      await RawSession.refused(sessionsOf(server), { headers: { authorization: "Bearer wrong-token-0123456789" } }),
    ).toMatchObject({
      status: 401,
    });
  });

  test.each([
    ["starts with another message", ask("1", "who"), "unauthenticated"],
    ["is refused", { hello: "did:toy:mallory" }, "forbidden"],
  ])("gets no further if it %s", async (_what, message, code) => {
    const session = await open(await proving());
    session.send(message);
    expect(await session.next()).toMatchObject({ error: { code } });
    expect(await session.closed).toEqual({ code: 1008, reason: code });
  });

  test("is one of few until then", async () => {
    const server = await proving({ sessionsUnadmitted: 1 });
    const first = await open(server);
    const refused = await RawSession.refused(sessionsOf(server));
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
    await open(server, bearer("alice"));
    first.send({ hello: "did:toy:alice" });
    await first.next();
    const second = await open(server);
    second.send({ hello: "did:toy:bob" });
    expect(await second.next()).toEqual({ hello: "did:did:toy:bob" });
  });

  test("has the same quota of sessions as any other", async () => {
    const server = await proving({ sessionsPerCaller: 1 });
    const [first, second] = [await open(server), await open(server)];
    for (const each of [first, second]) each.send({ hello: "did:toy:alice" });
    const answers = [await first.next(), await second.next()];
    expect(answers).toContainEqual({ hello: "did:did:toy:alice" });
    expect(answers).toContainEqual({ error: expect.objectContaining({ code: "overloaded" }) });
    expect(await Promise.race([first.closed, second.closed])).toEqual({ code: 1013, reason: "overloaded" });
  });

  test("does so through connect()", async () => {
    const { url } = await proving();
    const options = { protocols: [provingSessionToy], discoveryCache: new DiscoveryCache() };
    const peer = await connect(url, { ...options, settings: { "session-toy": { did: "did:toy:carol" } } });
    opened.push(peer);
    expect(await peer.ask("who")).toBe("did:did:toy:carol");
    const refused = await connect(url, { ...options, settings: { "session-toy": { did: "did:toy:mallory" } } });
    opened.push(refused);
    await expect(refused.ask("who")).rejects.toMatchObject({ code: "forbidden", facts: { sent: "no" } });
  });

  test("that never says so is closed", async () => {
    const session = await open(await proving({ sessionFirstMessageMs: 50 }));
    expect(await session.closed).toMatchObject({ code: 1008 });
  });
});
