import { describe, expect, it } from "vitest";
import {
  AgentError,
  type AgentEvent,
  ANONYMOUS,
  answerText,
  CancelSource,
  type Card,
  type Json,
  type Loss,
  newEnvelope,
  type Operation,
  type OperationOf,
  type Principal,
  startCall,
  textOf,
} from "../../envelope/index.js";
import type { HttpRequest, HttpResponse, Link } from "../../transport/exchange.js";
import { createClientContext } from "../client-context.js";
import { unknownCard } from "../discovery.js";
import type { Peer } from "../protocol.js";
import { type ClientOptions, connectWith } from "./client.js";

const URL_OF_PEER = "http://peer.example";
const ECHO = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: false\n---\nECHO the JSON body back.\n";
/** Both computed by the library. */
const ECHO_HASH = "L9xl1shodRYEKdIIT3ydYkazG8M=";
const ECHO_URI =
  "data:text/plain;charset=utf-8,---%0Aname%3A%20Echo%0Adescription%3A%20ECHO%20protocol%0Amultiround%3A%20false%0A---%0AECHO%20the%20JSON%20body%20back.%0A";

const plain: Card = unknownCard(URL_OF_PEER, { streaming: false });
const ours: Card = { ...plain, capabilities: { ...plain.capabilities, idempotentSend: true } };

let count = 0;
const ids = { now: () => 1_000, newId: () => `id-${++count}` };

type Script = (request: HttpRequest, number: number) => HttpResponse | Promise<HttpResponse>;
const json = (body: Json, status = 200): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const page = (status: number): HttpResponse => ({ status, headers: { "content-type": "text/html" }, body: "<!doctype html>" });

function peerWith(script: Script, card: Card = plain, options: ClientOptions = {}) {
  const requests: HttpRequest[] = [];
  const link: Link = {
    exchange: async (request) => script(request, requests.push(request)),
    close: async () => undefined,
  };
  const peer: Peer = { url: card === ours ? `${URL_OF_PEER}/agora` : URL_OF_PEER, card, version: "0.2", binding: "HTTP" };
  const { handler } = connectWith(options)({ ...createClientContext({ link, ids }), peer });
  const losses: Loss[] = [];
  async function run(operation: Operation, more: Parameters<typeof startCall>[0] = {}): Promise<AgentEvent> {
    return (await handler(operation, startCall({ reportLoss: (loss) => losses.push(loss), ...more }))) as AgentEvent; // one answer each
  }
  const lines = (): readonly string[] => requests.map(({ method, path }) => `${method} ${path}`);
  const bodies = (): readonly Json[] =>
    requests.map(({ body }) => (body.length === 0 ? null : JSON.parse(new TextDecoder().decode(body))));
  return { run, lines, bodies, losses };
}

function send(
  content: string,
  more: Partial<OperationOf<"send">> & { readonly session?: string; readonly key?: string; readonly intent?: string } = {},
): Operation {
  const { session: sessionId, key: idempotencyKey, intent, ...rest } = more;
  const envelope = newEnvelope({ content, src: "me", dst: "it", context: { sessionId, idempotencyKey }, intent }, ids);
  return { kind: "send", envelope, delivery: "answer", task: "auto", ...rest };
}

function wordsOf(event: AgentEvent): string {
  if (event.kind === "task") return answerText(event.task);
  return event.kind === "message" ? textOf(event.message.content) : `a ${event.kind}`;
}
const errorOf = (work: Promise<unknown>): Promise<AgentError> =>
  work.then(
    () => new AgentError("internal", "nothing was thrown"),
    (thrown: unknown) => AgentError.from(thrown),
  );

describe("a reply", () => {
  // wire/agora.md §10.2, and what each dialect writes.
  const TABLE: readonly (readonly [what: string, reply: HttpResponse, code: string])[] = [
    ["failure of the specification", json({ status: "failure", body: "no" }), "bad_peer"],
    ["rejected of the specification", json({ status: "rejected" }), "unsupported"],
    ["the library's rejection", json({ status: "error", message: `${ECHO_HASH} is not suitable for execution` }), "unsupported"],
    ["a document that could not be fetched", json({ status: "error", message: "Failed to download protocol" }), "bad_peer"],
    ["a conversation that is gone", json({ status: "error", message: "Conversation not found." }), "session_expired"],
    [
      "any other error of the library",
      json({ status: "error", message: "'NoneType' object has no attribute 'read'" }),
      "bad_peer",
    ],
    ["an error without words", json({ status: "error" }), "bad_peer"],
    [
      "an error of ours, by its code",
      json({ status: "error", message: "m", body: "m", metadata: { koine: 1, code: "overloaded" } }, 429),
      "overloaded",
    ],
    ["an unknown code", json({ status: "error", message: "m", metadata: { code: "constructor" } }), "bad_peer"],
    ["401 without a reply", page(401), "unauthenticated"],
    ["404 without a reply", page(404), "not_found"],
    ["500 with a page", page(500), "bad_peer"],
    ["503 without a reply", page(503), "unavailable"],
    ["an error reply with 413", json({ status: "error", message: "too long" }, 413), "too_large"],
    ["success that is none", json({ status: "success", body: "x" }, 500), "bad_peer"],
    ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:1/" }, body: "" }, "bad_peer"],
    ["no JSON", { status: 200, headers: {}, body: "{" }, "bad_peer"],
    ["nothing", { status: 200, headers: {}, body: "" }, "bad_peer"],
    ["a list", json([]), "bad_peer"],
    ["an unknown status", json({ status: "maybe", body: "x" }), "bad_peer"],
    ["a body that is no text", json({ status: "success", body: { a: 1 } }), "bad_peer"],
  ];
  for (const [what, reply, code] of TABLE)
    it(`that is ${what} is ${code}, after one request`, async () => {
      const { run, lines } = peerWith(() => reply);
      expect((await errorOf(run(send("hello")))).code).toBe(code);
      expect(lines()).toEqual(["POST /"]);
    });

  it("that is a success is the answer, with trace and parent", async () => {
    const { run } = peerWith(() => json({ status: "success", body: "you said: hello" }));
    const operation = send("hello");
    const event = await run(operation, { caller: thirdParty("alice") });
    expect(event).toMatchObject({
      kind: "message",
      message: { role: "agent", src: "peer.example", dst: "alice", content: [{ kind: "text", text: "you said: hello" }] },
    });
    expect(event.kind === "message" && event.message.context.parentId).toBe(
      operation.kind === "send" ? operation.envelope.id : "",
    );
  });

  it("includes the retry delay", async () => {
    const { run } = peerWith(() => ({ ...page(503), headers: { "retry-after": "3" } }));
    expect((await errorOf(run(send("hello")))).facts).toMatchObject({ retryAfterMs: 3_000, status: 503, sent: "maybe" });
  });
});

function thirdParty(id: string): Principal {
  return { id, scheme: "bearer", scopes: [], owner: `bearer:${id}` };
}

describe("a request", () => {
  it("has the members and the content type that the library reads", async () => {
    const { run, bodies, lines } = peerWith((request) =>
      json({ status: "success", body: request.headers["content-type"] ?? "" }),
    );
    expect(wordsOf(await run(send("hello")))).toBe("application/json");
    expect(lines()).toEqual(["POST /"]);
    expect(bodies()[0]).toMatchObject({ protocolHash: null, protocolSources: [], body: "hello" });
    expect(bodies()[0]).not.toHaveProperty("multiround");
  });

  it("carries the trace", async () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const { run } = peerWith((request) => json({ status: "success", body: request.headers["traceparent"] ?? "" }));
    expect(wordsOf(await run(send("hello"), { parameters: { traceparent } }))).toBe(traceparent);
  });

  it("names the document of a skill by its hash, with its text, and sends data as JSON", async () => {
    const skill = { id: "echo", name: "Echo", description: "", tags: [], document: ECHO };
    const { run, bodies, losses } = peerWith(() => json({ status: "success", body: "{}" }), { ...plain, skills: [skill] });
    const envelope = newEnvelope({ content: { a: 1 }, src: "me", dst: "it", context: {}, intent: "echo" }, ids);
    await run({ kind: "send", envelope, delivery: "answer", task: "auto" });
    expect(bodies()[0]).toMatchObject({ protocolHash: ECHO_HASH, protocolSources: [ECHO_URI], body: '{"a":1}' });
    expect(losses).toEqual([]);
  });

  for (const intent of [ECHO_HASH, "Echo"])
    it(`finds a configured document by ${intent}`, async () => {
      const { run, bodies } = peerWith(() => json({ status: "success", body: "{}" }), plain, { documents: [ECHO] });
      await run(send("{}", { intent }));
      expect(bodies()[0]).toMatchObject({ protocolHash: ECHO_HASH, protocolSources: [ECHO_URI] });
    });

  it("uses natural language if the intent names no document, and reports the lost intent", async () => {
    const { run, bodies, losses } = peerWith(() => json({ status: "success", body: "" }));
    await run(send("hello", { intent: "unheard-of" }));
    expect(bodies()[0]).toMatchObject({ protocolHash: null });
    expect(losses.map(({ path }) => path)).toEqual(["message.intent"]);
  });

  it("reports unsupported options", async () => {
    const { run, losses } = peerWith(() => json({ status: "success", body: "" }));
    await run(send("hello", { key: "k-1" }));
    expect(losses.splice(0).map(({ path }) => path)).toEqual(["message.context.idempotencyKey"]);
    await run(send("hello", { delivery: "stream" }));
    await run(send("hello", { delivery: "accepted", task: "always" }));
    expect(losses.map(({ path }) => path)).toEqual([
      "operation.delivery=stream",
      "operation.delivery=accepted",
      "operation.task=always",
    ]);
  });

  it("opens a conversation for a session, continues and ends it", async () => {
    const { run, lines, bodies, losses } = peerWith(() => json({ status: "success", body: "", conversationId: "c-1" }));
    await run(send("one", { session: "s" }));
    await run(send("two", { session: "s" }));
    await run({ kind: "session.close", sessionId: "s" });
    expect(lines()).toEqual(["POST /", "POST /conversations/c-1", "DELETE /conversations/c-1"]);
    expect(bodies()[1]).toMatchObject({ protocolHash: null, protocolSources: [], body: "two", multiround: true });
    expect(losses.map(({ path }) => path)).toEqual(["message.context.sessionId", "message.context.sessionId"]);
  });

  it("reports a lost session if the peer opens no conversations", async () => {
    const { run, lines, losses } = peerWith(() => json({ status: "success", body: "" }));
    await run(send("one", { session: "s" }));
    await run(send("two", { session: "s" }));
    expect(lines()).toEqual(["POST /", "POST /"]);
    expect(losses.map(({ path }) => path)).toEqual(["message.context.sessionId", "message.context.sessionId"]);
  });

  it("is cancelled with its call", async () => {
    const cancel = new CancelSource();
    const { run } = peerWith(
      (request) =>
        new Promise((_resolve, reject) => {
          request.cancel.onCancel(reject);
          cancel.cancel(new AgentError("deadline", "time is up"));
        }),
    );
    expect((await errorOf(run(send("hello"), { cancel }))).message).toBe("time is up");
  });
});

describe("other operations", () => {
  for (const operation of [
    { kind: "task.list" },
    { kind: "task.get", taskId: "t" },
    { kind: "task.cancel", taskId: "t" },
    { kind: "task.subscribe", taskId: "t", follow: true },
    { kind: "push.list", taskId: "t" },
    { kind: "card", extended: true },
  ] as const satisfies readonly Operation[])
    it(`${operation.kind} is rejected before anything is sent`, async () => {
      const { run, lines } = peerWith(() => json({ status: "success" }));
      const error = await errorOf(run(operation));
      expect(error.code).toMatch(/unsupported|card_not_configured/);
      expect([error.facts.sent, lines().length]).toEqual(["no", 0]);
    });

  it("ping ends an unknown conversation", async () => {
    const { run, lines } = peerWith(() => json({ status: "success" }));
    await expect(run({ kind: "ping" })).resolves.toEqual({ kind: "done" });
    expect(lines()[0]).toMatch(/^DELETE \/conversations\/id-\d+$/);
    expect((await errorOf(peerWith(() => page(404)).run({ kind: "ping" }))).code).toBe("not_found");
  });
});

describe("a receipt of a Koine peer", () => {
  const receipt = (state: string, body = "The work goes on.") =>
    json({ status: "success", body, metadata: { koine: 1, receipt: { id: "t-1", state } } });

  it("is requested, and is the task, if delivery is accepted", async () => {
    const { run, bodies, losses } = peerWith(() => receipt("working"), ours);
    const event = await run(send("hello", { delivery: "accepted" }));
    expect(event).toMatchObject({ kind: "task", task: { id: "t-1", status: { state: "working" } } });
    expect(bodies()[0]).toMatchObject({ metadata: { prefer: "receipt" } });
    expect(losses).toEqual([]);
  });

  it("is collected if the answer is waited for", async () => {
    const { run, lines, bodies } = peerWith(
      (_request, number) => (number < 3 ? receipt("working") : receipt("completed", "done")),
      ours,
    );
    expect(wordsOf(await run(send("hello", { session: "s" })))).toBe("done");
    expect(lines()).toEqual(["POST /agora", "POST /agora", "POST /agora"]);
    expect(bodies()[2]).toMatchObject({ body: "", metadata: { koine: 1, receipt: { id: "t-1" } } });
  });

  it("routes messages to its task into its conversation, under its document, for its owner only", async () => {
    const { run, lines, bodies } = peerWith(
      (_request, number) =>
        json({
          status: "success",
          body: "how many?",
          ...(number === 1 ? { conversationId: "c-1" } : {}),
          metadata: { koine: 1, receipt: { id: "t-1", state: number < 4 ? "input-required" : "completed" } },
        }),
      { ...ours, skills: [{ id: "echo", name: "Echo", description: "d", tags: [], document: ECHO }] },
    );
    const about = (sessionId?: string) => {
      const envelope = newEnvelope({ content: "4", src: "me", dst: "it", context: { taskId: "t-1", sessionId } }, ids);
      return { kind: "send", envelope, delivery: "answer", task: "auto" } as const;
    };
    await run(send("book", { session: "s", intent: "echo" }));
    await run(about());
    await run(about(), { caller: { ...ANONYMOUS, owner: "somebody else" } });
    await run(about("another"));
    await run(about());
    expect(lines()).toEqual(["POST /", "POST /conversations/c-1", "POST /", "POST /conversations/c-1", "POST /"]);
    expect(bodies().map((body) => (body as { readonly protocolHash: Json }).protocolHash)).toEqual([
      ECHO_HASH,
      ECHO_HASH,
      null,
      ECHO_HASH,
      null,
    ]);
  });

  it("falls back to a message without a conversation if that has expired", async () => {
    const { run, lines } = peerWith((_request, number) => {
      if (number === 2) return json({ status: "error", message: "Conversation not found." }, 404);
      const state = number === 1 ? "input-required" : "completed";
      return json({ status: "success", body: "", conversationId: "c-1", metadata: { koine: 1, receipt: { id: "t-1", state } } });
    }, ours);
    await run(send("book", { session: "s" }));
    const envelope = newEnvelope({ content: "4", src: "me", dst: "it", context: { taskId: "t-1", sessionId: "s" } }, ids);
    const event = await run({ kind: "send", envelope, delivery: "answer", task: "auto" });
    expect(event).toMatchObject({ kind: "task", task: { id: "t-1", status: { state: "completed" }, artifacts: [] } });
    expect(lines()).toEqual(["POST /agora", "POST /conversations/c-1", "POST /agora"]);
  });

  it("stops polling with its call", async () => {
    const cancel = new CancelSource();
    const { run, lines } = peerWith(() => {
      queueMicrotask(() => setTimeout(() => cancel.cancel(new AgentError("deadline", "time is up")), 1));
      return receipt("working");
    }, ours);
    expect((await errorOf(run(send("hello", { session: "s" }), { cancel }))).code).toBe("deadline");
    expect(lines()).toEqual(["POST /agora"]);
  });

  it("of a task with a question is a task that waits for the caller", async () => {
    const { run } = peerWith(() => receipt("input-required", "Which city?"), ours);
    const event = await run(send("hello"));
    expect(event).toMatchObject({ kind: "task", task: { status: { state: "input-required" } } });
    expect(event.kind === "task" && textOf(event.task.status.message?.content ?? [])).toBe("Which city?");
  });

  it("of a failed task is a failed task, not a retryable error", async () => {
    const metadata = { koine: 1, code: "too_large", receipt: { id: "t-1", state: "failed" } };
    const { run } = peerWith(() => json({ status: "error", message: "too much", body: "too much", metadata }, 413), ours);
    expect(await run(send("hello"))).toMatchObject({
      kind: "task",
      task: { status: { state: "failed", error: { code: "too_large", message: "too much" } } },
    });
  });

  it("answers task.get and task.cancel", async () => {
    const { run, bodies } = peerWith(
      (_request, number) => (number === 1 ? receipt("completed", "42") : receipt("canceled", "")),
      ours,
    );
    expect(await run({ kind: "task.get", taskId: "t-1" })).toMatchObject({
      task: { id: "t-1", status: { state: "completed" }, artifacts: [{ parts: [{ text: "42" }] }] },
    });
    expect(await run({ kind: "task.cancel", taskId: "t-1" })).toMatchObject({ task: { status: { state: "canceled" } } });
    expect(bodies()).toMatchObject([{ metadata: { receipt: { id: "t-1" } } }, { metadata: { cancel: "t-1" } }]);
  });

  it("of another task is rejected", async () => {
    const { run } = peerWith(() => receipt("completed"), ours);
    expect((await errorOf(run({ kind: "task.get", taskId: "t-2" }))).code).toBe("bad_peer");
  });
});
