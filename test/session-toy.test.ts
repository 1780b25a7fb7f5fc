import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { contextOf } from "../conformance/scripted-host.js";
import {
  type AgentEvent,
  agent,
  connect,
  DiscoveryCache,
  type Envelope,
  mount,
  newEnvelope,
  type RemoteAgent,
  type Server,
  serve,
} from "../src/index.js";
import { memoryLink, protocols, startCall } from "../src/public/protocols.js";
import type { Session } from "../src/transport/exchange.js";
import { DEFAULT_LIMITS } from "../src/transport/limits.js";
import { type Authority, makeAuthority } from "./certificates.js";
import { collect, seen, taskIdIn, taskIn, wordsOf } from "./gateway/pairs/seen.js";
import { startStallingProxy } from "./gateway/processes/stalling-proxy.js";
import { recordSessions } from "./session-toy/accepted-sessions.js";
import { createHoldingWorker } from "./session-toy/holding-worker.js";
import { sessionToy } from "./session-toy/index.js";

/** A protocol over sessions, added by one folder and one line: in clear and under TLS. */

const worker = createHoldingWorker();
/** The sessions that servers of this file have accepted. */
const accepted: Session[] = [];
const registry = [...protocols, recordSessions(accepted)];

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
  accepted.length = 0;
});

let authority: Authority;
beforeAll(async () => {
  authority = await makeAuthority();
});

async function start(secure: boolean, options: Parameters<typeof serve>[1] = {}): Promise<Server> {
  const tls = secure ? { tls: await authority.issue({ hosts: ["localhost", "127.0.0.1"] }) } : undefined;
  const server = await serve(worker.agent, { protocols: registry, ...tls, ...options });
  opened.push(server);
  return server;
}

async function callerOf(url: string, options: Parameters<typeof connect>[1] = {}): Promise<RemoteAgent> {
  const peer = await connect(url, {
    protocols: [sessionToy],
    discoveryCache: new DiscoveryCache(),
    credentials: { tls: { ca: authority.ca } },
    ...options,
  });
  opened.push(peer);
  return peer;
}

function news(id: string): Envelope {
  return newEnvelope({ content: "news", src: "worker", dst: "me", context: {} }, { now: () => 1_000, newId: () => id });
}

describe.each([
  { where: "in clear", secure: false, scheme: "ws" },
  { where: "under TLS", secure: true, scheme: "wss" },
])("$where", ({ secure, scheme }) => {
  test("is discovered at its plain address, with evidence", async () => {
    const { url, port } = await start(secure);
    const peer = await callerOf(url);
    expect([peer.protocol, peer.version, peer.binding, peer.verified]).toEqual(["session-toy", "1", "WS", true]);
    expect(peer.evidence).toEqual([`a session toy document at ${url}/session-toy`]);
    expect(peer.interfaces.map((each) => each.url)).toEqual([`${scheme}://127.0.0.1:${port}/session-toy?agent=worker`]);
    expect(await peer.health()).toBe(true);
  });

  test("answers questions, streams and tasks in one session", async () => {
    const peer = await callerOf((await start(secure)).url);
    expect(await peer.ask("Grüße, 世界 🌍")).toBe("you said: Grüße, 世界 🌍");
    const events = await collect(peer.stream("conform: stream 3"));
    expect(events.map(seen)).toEqual([
      "task submitted",
      "status working",
      "artifact chunk 1 ",
      "artifact chunk 2 ",
      "artifact chunk 3 ",
      "status completed",
    ]);
    const kept = await peer.getTask(taskIdIn(events));
    expect([kept.status.state, wordsOf([{ kind: "task", task: kept }])]).toEqual(["completed", "chunk 1 chunk 2 chunk 3 "]);
    expect((await peer.listTasks()).tasks.map(({ id }) => id)).toContain(kept.id);
    expect(accepted).toHaveLength(1);
  });

  test("asks for input in the middle of a task", async () => {
    const peer = await callerOf((await start(secure)).url);
    const asked = taskIn(await peer.send("conform: ask"));
    expect(asked.status.state).toBe("input-required");
    const answered = taskIn(await peer.send("42", { task: asked.id }));
    expect([answered.id, answered.status.state]).toEqual([asked.id, "completed"]);
    expect(wordsOf([{ kind: "task", task: answered }])).toBe("the answer was: 42");
  });

  test("cancels a task, and reports it to those who follow it", async () => {
    const peer = await callerOf((await start(secure)).url);
    const text = `conform: wait ${randomUUID()}`;
    const { id } = taskIn(await peer.start(text));
    await worker.began(text);
    for await (const event of peer.subscribe(id)) if (seen(event).endsWith("working")) break;
    const followed = collect(peer.subscribe(id));
    await peer.cancelTask(id);
    expect((await followed).map(seen).at(-1)).toBe("status canceled");
    await worker.stopped(text);
  });

  test("a hundred calls at once share one session, and each gets its own answer", async () => {
    const limits = { sessionCalls: 100 };
    const { url } = await start(secure, { limits });
    const peer = await callerOf(url, { limits: { ...DEFAULT_LIMITS, ...limits } });
    const texts = Array.from({ length: 100 }, (_, index) => `hold ${index} ${randomUUID()}`);
    const answers = texts.map((text) => peer.ask(text));
    await Promise.all(texts.map((text) => worker.began(text)));
    for (const text of texts.toReversed()) worker.letGo(text);
    expect(await Promise.all(answers)).toEqual(texts.map((text) => `let go: ${text}`));
    expect(accepted).toHaveLength(1);
  });

  test("a cancelled call leaves the others in its session alone", async () => {
    const peer = await callerOf((await start(secure)).url);
    const [mine, other] = [`hold mine ${randomUUID()}`, `hold other ${randomUUID()}`];
    const leaving = new AbortController();
    const given = peer.ask(mine, { signal: leaving.signal });
    const kept = peer.ask(other);
    await Promise.all([worker.began(mine), worker.began(other)]);
    leaving.abort();
    await expect(given).rejects.toMatchObject({ code: "cancelled" });
    worker.letGo(other);
    expect(await kept).toBe(`let go: ${other}`);
    expect(await peer.ask("afterwards")).toBe("you said: afterwards");
    expect(accepted).toHaveLength(1);
  });

  test("a call that is cancelled while the session opens does not stop it from opening", async () => {
    const peer = await callerOf((await start(secure)).url);
    const leaving = new AbortController();
    const given = peer.ask("first", { signal: leaving.signal });
    const other = peer.ask("second");
    leaving.abort();
    await expect(given).rejects.toMatchObject({ code: "cancelled" });
    expect(await other).toBe("you said: second");
    expect(accepted).toHaveLength(1);
  });

  test("messages are started by either side", async () => {
    const server = await start(secure);
    const peer = await callerOf(server.url);
    const owner = await peer.ask("who");
    const messages = peer.receive()[Symbol.asyncIterator]();
    const first = messages.next();
    await server.say(owner, news("m-1"));
    expect(await first).toMatchObject({
      done: false,
      value: { id: "m-1", ts: 1, src: "worker", dst: "me", content: [{ kind: "text", text: "news" }] },
    });
    await messages.return?.();
    await expect(server.say("bearer:nobody", news("m-2"))).rejects.toMatchObject({ code: "unavailable", facts: { sent: "no" } });
  });
});

describe("errors", () => {
  test("have the same code at the caller", async () => {
    const peer = await callerOf((await start(false)).url);
    await expect(peer.getTask(randomUUID())).rejects.toMatchObject({ code: "task_not_found" });
    const { id } = taskIn(await peer.send("conform: task"));
    await expect(peer.cancelTask(id)).rejects.toMatchObject({ code: "not_cancelable" });
    await expect(peer.send("more", { task: id })).rejects.toMatchObject({ code: "task_closed" });
    await expect(peer.ask("conform: throw")).rejects.toMatchObject({ code: "internal" });
  });

  test("are reported before anything is sent, if the wire has no such operation", async () => {
    const peer = await callerOf((await start(false)).url);
    await expect(peer.setPush("t", { url: "https://hooks.example" })).rejects.toMatchObject({
      code: "push_unsupported",
      facts: { sent: "no" },
    });
    expect(accepted).toHaveLength(0);
  });

  test("of a call beyond the limit of the client are overloaded, and nothing is sent", async () => {
    const { url } = await start(false);
    const peer = await callerOf(url, { limits: { ...DEFAULT_LIMITS, sessionCalls: 2 } });
    const texts = [1, 2].map((index) => `hold ${index} ${randomUUID()}`);
    const answers = texts.map((text) => peer.ask(text));
    await expect(peer.ask("too many")).rejects.toMatchObject({ code: "overloaded", facts: { sent: "no" } });
    await Promise.all(texts.map((text) => worker.began(text)));
    for (const text of texts) worker.letGo(text);
    await Promise.all(answers);
    expect(await peer.ask("again")).toBe("you said: again");
    expect(worker.received("too many")).toEqual([]);
  });

  /** A stream of which only the first event is read, until the client has given it up. */
  async function readSlowly(peer: RemoteAgent): Promise<AsyncIterable<AgentEvent>> {
    const events = peer.stream("conform: stream 100")[Symbol.asyncIterator]();
    const first = await events.next();
    let cancels = 0;
    accepted.at(-1)?.tap({ received: (frame) => void (String(frame).startsWith('{"cancel"') && cancels++) });
    await expect.poll(() => cancels).toBe(1);
    let step: typeof first | undefined = first;
    return {
      [Symbol.asyncIterator]: () => ({
        next() {
          const kept = step;
          step = undefined;
          return kept === undefined ? events.next() : Promise.resolve(kept);
        },
      }),
    };
  }
  const CHUNKS = Array.from({ length: 100 }, (_, index) => `chunk ${index + 1} `).join("");
  const slow = { limits: { ...DEFAULT_LIMITS, sessionQueuedBytes: 2_000 } };

  test("of a stream that is read too slowly do not concern the other calls", async () => {
    const peer = await callerOf((await start(false)).url, { ...slow, resume: false });
    const events = await readSlowly(peer);
    expect(await peer.ask("meanwhile")).toBe("you said: meanwhile");
    await expect(collect(events)).rejects.toMatchObject({ code: "interrupted", facts: { sent: "maybe" } });
    expect(accepted).toHaveLength(1);
  });

  test("of a stream that is read too slowly are repaired by resuming it", async () => {
    const peer = await callerOf((await start(false)).url, slow);
    expect(wordsOf(await collect(await readSlowly(peer)))).toBe(CHUNKS);
  });
});

describe("the end of a session", () => {
  test("waits for the running call when the server closes: 1001", async () => {
    const server = await start(false);
    const peer = await callerOf(server.url);
    const text = `hold ${randomUUID()}`;
    const answer = peer.ask(text);
    await worker.began(text);
    const [session] = accepted;
    const closing = server.close();
    await expect(callerOf(server.url)).rejects.toMatchObject({ code: "unavailable" });
    worker.letGo(text);
    expect(await answer).toBe(`let go: ${text}`);
    expect(await session?.closed).toMatchObject({ code: 1001, clean: true });
    await closing;
  });

  test("comes at once for a session without calls when the server closes", async () => {
    const server = await start(false);
    const [idle, busy] = [await callerOf(server.url), await callerOf(server.url)];
    await idle.ask("hello");
    const text = `hold ${randomUUID()}`;
    const answer = busy.ask(text);
    await worker.began(text);
    const closing = server.close();
    expect(await accepted[0]?.closed).toMatchObject({ code: 1001, clean: true });
    worker.letGo(text);
    expect(await answer).toBe(`let go: ${text}`);
    await closing;
  });

  test("interrupts the calls that run in it, if the connection breaks", async () => {
    let port = 0;
    const proxy = await startStallingProxy(() => port);
    const server = await start(false, { names: [new URL(proxy.url).host] });
    port = server.port;
    const peer = await callerOf(proxy.url, { resume: false });
    const texts = [`hold one ${randomUUID()}`, `hold two ${randomUUID()}`] as const;
    const answers = texts.map((text) => peer.ask(text));
    await Promise.all(texts.map((text) => worker.began(text)));
    await proxy.close();
    for (const answer of answers) await expect(answer).rejects.toMatchObject({ code: "interrupted", facts: { sent: "maybe" } });
    await expect(peer.ask("afterwards")).rejects.toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    for (const text of texts) worker.letGo(text);
  });

  test("is followed by another session when the server is back, and by a refusal until then", async () => {
    const first = await start(false);
    const peer = await callerOf(first.url);
    expect(await peer.ask("before")).toBe("you said: before");
    await first.close();
    await expect(peer.ask("between")).rejects.toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    await start(false, { port: first.port });
    expect(await peer.ask("after")).toBe("you said: after");
    expect(accepted).toHaveLength(2);
    expect(worker.received("between")).toEqual([]);
  });

  test("comes when the agents are replaced: after the running calls, and the next call reaches the new agents", async () => {
    const server = await start(false);
    const [idle, busy] = [await callerOf(server.url), await callerOf(server.url)];
    expect(await idle.ask("hello")).toBe("you said: hello");
    const text = `hold ${randomUUID()}`;
    const answer = busy.ask(text);
    await worker.began(text);
    const other = agent({ name: "worker", description: "replaces the first", handle: () => "the other one" });
    server.replace(other, { protocols: registry });
    expect(await accepted[0]?.closed).toMatchObject({ code: 1001, clean: true });
    worker.letGo(text);
    expect(await answer).toBe(`let go: ${text}`);
    expect(await accepted[1]?.closed).toMatchObject({ code: 1001, clean: true });
    expect(await (await callerOf(server.url)).ask("hello")).toBe("the other one");
  });

  test("is 1000 when the caller closes, after its running calls", async () => {
    const peer = await callerOf((await start(false)).url);
    const text = `hold ${randomUUID()}`;
    const answer = peer.ask(text);
    await worker.began(text);
    const closing = peer.close();
    await expect(peer.ask("too late")).rejects.toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    worker.letGo(text);
    expect(await answer).toBe(`let go: ${text}`);
    await closing;
    expect(await accepted[0]?.closed).toMatchObject({ code: 1000, clean: true });
  });

  test("ends what is received, and the next call opens another", async () => {
    const server = await start(false);
    const peer = await callerOf(server.url);
    const next = peer.receive()[Symbol.asyncIterator]().next();
    await expect.poll(() => accepted.length).toBe(1);
    accepted[0]?.close(1001, "");
    await expect(next).rejects.toMatchObject({ code: "interrupted" });
    expect(await peer.ask("afterwards")).toBe("you said: afterwards");
    expect(accepted).toHaveLength(2);
  });
});

describe("the address", () => {
  test("may be that of the session itself", async () => {
    const { port } = await start(false);
    const peer = await callerOf(`ws://127.0.0.1:${port}/session-toy?agent=worker`);
    expect(await peer.ask("hello")).toBe("you said: hello");
  });

  test("may be a DID of a method that the protocol resolves", async () => {
    const { port } = await start(false);
    const peer = await callerOf(`did:toy:127.0.0.1%3A${port}`);
    expect(await peer.ask("hello")).toBe("you said: hello");
    await expect(callerOf(`did:toy:${"127.0.0.1%3A"}1`)).rejects.toMatchObject({ code: "unavailable" });
    await expect(callerOf("did:other:x")).rejects.toMatchObject({ code: "unsupported" });
  });

  test("is on the cards of a server with sessions, and not of a mounted host", async () => {
    const server = await start(false);
    const address = { protocol: "session-toy", version: "1", binding: "WS" };
    expect(server.interfaces("worker")).toContainEqual({
      ...address,
      url: `ws://127.0.0.1:${server.port}/session-toy?agent=worker`,
    });
    const mounted = mount(worker.agent, { protocols: registry, publicUrl: "http://agents.example" });
    opened.push(mounted);
    const document = await mounted.fetch(new Request("http://agents.example/session-toy"));
    expect(document.status).toBe(404);
    const found = await sessionToy.discover(contextOf(memoryLink(mounted.exchange)), "http://agents.example", startCall());
    expect(found).toBeUndefined();
  });
});
