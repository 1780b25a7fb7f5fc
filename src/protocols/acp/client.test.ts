import { describe, expect, test } from "vitest";
import {
  AgentError,
  type AgentEvent,
  CancelSource,
  isPromise,
  type Loss,
  type Operation,
  type OperationOf,
  startCall,
} from "../../envelope/index.js";
import type { Chunk, HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { createClientContext } from "../client-context.js";
import { connect } from "./client.js";
import { decodeManifest } from "./codec.js";

const RUN = "0f5c1a52-5b9e-4c9e-9a4e-3f2d7a1b6c11";
const SESSION = "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11";
const JSON_TYPE = { "content-type": "application/json" };
const SSE = { "content-type": "text/event-stream; charset=utf-8" };

/** As the SDK server writes it, including nulls. */
function run(status: string, more: object = {}): object {
  return {
    run_id: RUN,
    agent_name: "echo",
    session_id: SESSION,
    status,
    await_request: null,
    output: [],
    error: null,
    created_at: "2026-01-02T03:04:05.100000Z",
    finished_at: null,
    ...more,
  };
}
const part = (content: string): object => ({
  name: null,
  content_type: "text/plain",
  content,
  content_encoding: "plain",
  content_url: null,
  metadata: null,
});
const sent = (content: string): object => ({ role: "agent/echo", parts: [part(content)], created_at: null, completed_at: null });
const CREATED = { type: "run.created", run: run("created") };
const WORKING = { type: "run.in-progress", run: run("in-progress") };
const PIECES = [
  { type: "message.created", message: { ...sent(""), parts: [] } },
  { type: "message.part", part: part("one ") },
  { type: "message.part", part: part("two") },
];
const DONE = { type: "run.completed", run: run("completed", { output: [{ ...sent(""), parts: [part("one "), part("two")] }] }) };

const json = (body: unknown, status = 200): HttpResponse => ({ status, headers: JSON_TYPE, body: JSON.stringify(body) });
const sse = (...items: readonly object[]): HttpResponse => ({
  status: 200,
  headers: SSE,
  body: items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join(""),
});

function peer(
  answer: (request: HttpRequest, count: number) => HttpResponse | Promise<HttpResponse>,
  url = "http://acp.example/base",
) {
  const requests: HttpRequest[] = [];
  const exchange = (request: HttpRequest): HttpResponse | Promise<HttpResponse> => answer(request, requests.push(request));
  const iface = { url, card: decodeManifest({ name: "echo" }), version: "0.2", binding: "REST" };
  const link = { exchange, close: async () => undefined };
  const context = createClientContext({ link, ids: { now: () => 1_000, newId: () => "id" } });
  const { handler } = connect({ ...context, peer: iface });
  return { handler, asked: requests };
}

const send = (delivery: OperationOf<"send">["delivery"], context = {}): OperationOf<"send"> => ({
  kind: "send",
  envelope: {
    id: "m-1",
    ts: 1_767_323_045.12,
    src: "me",
    dst: "echo",
    intent: "",
    role: "user",
    content: [{ kind: "text", text: "hi" }],
    context,
    meta: {},
  },
  delivery,
  task: "auto",
});

async function outcome(
  answer: Parameters<typeof peer>[0],
  operation: Operation,
  call = startCall(),
): Promise<readonly (AgentEvent | string)[]> {
  const events: (AgentEvent | string)[] = [];
  try {
    const reply = peer(answer).handler(operation, call);
    if (isPromise(reply)) return [await reply];
    for await (const event of reply) events.push(event);
  } catch (thrown) {
    events.push(AgentError.from(thrown).code);
  }
  return events;
}

/** The events of a stream, abbreviated. */
function notified(events: readonly (AgentEvent | string)[]): readonly string[] {
  return events.map((event) => {
    if (typeof event === "string") return event;
    if (event.kind === "task") return `task ${event.task.status.state}`;
    if (event.kind === "status") return event.status.state;
    if (event.kind !== "artifact") return event.kind;
    const [first] = event.artifact.parts;
    return `${event.append ? "+" : ""}${first?.kind === "text" ? first.text : first?.kind}`;
  });
}

const bodyOf = (request: HttpRequest | undefined): unknown => JSON.parse(Buffer.from(request?.body ?? []).toString());

describe("requests", () => {
  test.each([
    ["answer", "sync"],
    ["accepted", "async"],
    ["stream", "stream"],
  ] as const)("%s is the mode %s", async (delivery, mode) => {
    const { handler, asked: requests } = peer(() => json(run("completed")));
    const reply = handler(send(delivery, { sessionId: SESSION, idempotencyKey: "k-1" }), startCall());
    await (isPromise(reply) ? reply : reply[Symbol.asyncIterator]().next());
    expect(requests[0]).toMatchObject({ method: "POST", target: "http://acp.example/base/runs" });
    expect(requests[0]?.headers).toMatchObject({ "content-type": "application/json", "idempotency-key": "k-1" });
    expect(bodyOf(requests[0])).toEqual({
      agent_name: "echo",
      input: [
        { role: "user", parts: [part("hi")], created_at: "2026-01-02T03:04:05.120Z", completed_at: "2026-01-02T03:04:05.120Z" },
      ],
      session_id: SESSION,
      mode,
    });
  });

  test("a key that the peer may ignore is reported as lost", async () => {
    const { handler } = peer(() => json(run("completed")));
    const losses: Loss[] = [];
    const call = startCall({ reportLoss: (loss) => losses.push(loss) });
    await handler(send("answer", { idempotencyKey: "k-1" }), call);
    await handler(send("answer", {}), call);
    expect(losses.map(({ path }) => path)).toEqual(["context.idempotencyKey"]);
  });

  test("a message to a task answers its question", async () => {
    const { handler, asked: requests } = peer(() => json(run("completed")));
    await handler(send("answer", { taskId: RUN }), startCall());
    expect(requests[0]?.target).toBe(`http://acp.example/base/runs/${RUN}`);
    expect(bodyOf(requests[0])).toMatchObject({
      await_resume: { type: "message", message: { parts: [part("hi")] } },
      mode: "sync",
    });
  });

  test("use the agent of the address", async () => {
    const { handler, asked: requests } = peer(() => json(run("completed")), "http://acp.example/base/agents/other%20one");
    await handler(send("answer"), startCall());
    expect(bodyOf(requests[0])).toMatchObject({ agent_name: "other one" });
  });

  test("a session id that is not a UUID is mapped per caller, and restored", async () => {
    const losses: Loss[] = [];
    const { handler, asked: requests } = peer((request) =>
      json(run("completed", { session_id: (bodyOf(request) as { session_id: string }).session_id })),
    );
    const as = (owner: string) =>
      startCall({ caller: { id: owner, scheme: "key", scopes: [], owner }, reportLoss: (loss) => losses.push(loss) });
    const answers = [as("a"), as("a"), as("b")].map(
      async (call) => handler(send("answer", { sessionId: "c-1" }), call) as Promise<AgentEvent>,
    ); // one answer each
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ task: { contextId: "c-1" } });
    const [first, second, third] = requests.map((request) => (bodyOf(request) as { session_id: string }).session_id);
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(losses.map(({ path }) => path)).toEqual(["context.sessionId", "context.sessionId", "context.sessionId"]);
  });

  test.each<[Operation, string]>([
    [{ kind: "task.list" }, "unsupported_method"],
    [{ kind: "session.close", sessionId: "s" }, "unsupported_method"],
    [{ kind: "push.list", taskId: RUN }, "push_unsupported"],
    [{ kind: "card", extended: true }, "card_not_configured"],
    [{ ...send("answer"), push: { taskId: "", id: "p", url: "https://hook.example" } }, "push_unsupported"],
  ])("are not sent for unsupported operations: %o", async (operation, code) => {
    const { handler, asked: requests } = peer(() => json({}));
    await expect((async () => handler(operation, startCall()))()).rejects.toMatchObject({ code, facts: { sent: "no" } });
    expect(requests).toEqual([]);
  });
});

describe("responses", () => {
  test("a failed run is a result", async () => {
    const failed = run("failed", { error: { code: "invalid_input", message: "no", data: null } });
    expect(await outcome(() => json(failed), send("answer"))).toMatchObject([
      {
        kind: "task",
        task: { id: RUN, contextId: SESSION, status: { state: "failed", error: { code: "invalid_message", message: "no" } } },
      },
    ]);
  });

  test.each(["task.get", "task.cancel"] as const)("another run than the requested one (%s) is rejected", async (kind) => {
    const other = { ...run("completed"), run_id: "00000000-0000-4000-8000-000000000001" };
    const { handler } = peer(() => json(other));
    await expect(handler({ kind, taskId: RUN }, startCall())).rejects.toMatchObject({ code: "bad_peer" });
  });

  test("a cancellation returns the current run", async () => {
    const { handler, asked: requests } = peer(() => json(run("cancelling"), 202));
    expect(await handler({ kind: "task.cancel", taskId: RUN }, startCall())).toMatchObject({
      task: { status: { state: "canceling" } },
    });
    expect(requests[0]).toMatchObject({ method: "POST", target: `http://acp.example/base/runs/${RUN}/cancel` });
  });

  // Statuses and codes of the SDK server.
  test.each<[Operation, number, string, string]>([
    [send("answer"), 404, "not_found", "not_found"],
    [send("stream"), 404, "not_found", "not_found"],
    [send("answer"), 422, "invalid_input", "invalid_message"],
    [{ kind: "task.get", taskId: RUN }, 404, "not_found", "task_not_found"],
    [{ kind: "task.get", taskId: "t-1" }, 422, "invalid_input", "task_not_found"],
    [{ kind: "task.cancel", taskId: RUN }, 403, "server_error", "not_cancelable"],
    [send("answer", { taskId: RUN }), 403, "server_error", "task_closed"],
    [{ kind: "task.subscribe", taskId: RUN, follow: true }, 404, "not_found", "task_not_found"],
    [{ kind: "task.subscribe", taskId: RUN, follow: false }, 404, "not_found", "task_not_found"],
  ])("%o rejected with %i %s is %s", async (operation, status, code, ours) => {
    expect(await outcome(() => json({ code, message: "no", data: null }, status), operation)).toEqual([ours]);
  });

  test("403 of a proxy says nothing about the run", async () => {
    expect(await outcome(() => json("denied", 403), { kind: "task.cancel", taskId: RUN })).toEqual(["forbidden"]);
  });

  test.each<[string, HttpResponse]>([
    ["nothing", { status: 200, headers: {}, body: "" }],
    ["no JSON", { status: 200, headers: {}, body: "<html>" }],
    ["no run", json({ run_id: RUN })],
    ["a list", json([])],
    ["a redirect", { status: 302, headers: { location: "http://other.example" }, body: "" }],
  ])("%s instead of a run is the peer's fault", async (_, response) => {
    expect(await outcome(() => response, send("answer"))).toEqual(["bad_peer"]);
  });
});

describe("a stream", () => {
  test("is the task, then its events", async () => {
    const events = await outcome(
      () => sse(CREATED, WORKING, { type: "generic", generic: { thought: "hm" } }, ...PIECES, DONE),
      send("stream"),
    );
    expect(notified(events)).toEqual(["task submitted", "working", "working", "one ", "+two", "completed"]);
    expect(events[2]).toMatchObject({ metadata: { thought: "hm" } });
  });

  test("ends normally at a question", async () => {
    const awaiting = run("awaiting", { await_request: { type: "message", message: sent("which city?") } });
    const events = await outcome(() => sse(CREATED, WORKING, { type: "run.awaiting", run: awaiting }), send("stream"));
    expect(notified(events)).toEqual(["task submitted", "working", "input-required"]);
  });

  test.each<[string, readonly object[]]>([
    ["nothing", []],
    ["its beginning", [CREATED]],
    ["the middle", [CREATED, WORKING, ...PIECES]],
  ])("that ends after %s was interrupted", async (_, items) => {
    expect((await outcome(() => sse(...items), send("stream"))).at(-1)).toBe("interrupted");
  });

  test("with an error event ends with that error", async () => {
    const error = { code: "server_error", message: "busy", data: { code: "overloaded" } };
    expect(notified(await outcome(() => sse(CREATED, { type: "error", error }), send("stream")))).toEqual([
      "task submitted",
      "overloaded",
    ]);
  });

  test("that begins with a part is the peer's fault", async () => {
    expect(await outcome(() => sse(...PIECES), send("stream"))).toEqual(["bad_peer"]);
  });

  test("of a peer that does not stream is its run", async () => {
    expect(notified(await outcome(() => json(run("completed", { output: [sent("all")] })), send("stream")))).toEqual([
      "task completed",
    ]);
  });

  test("closes the connection when its reader leaves", async () => {
    let letGo = false;
    async function* chunks(): AsyncGenerator<Chunk, void, void> {
      try {
        yield `data: ${JSON.stringify(CREATED)}\n\n`;
        await new Promise<never>(() => undefined);
      } finally {
        letGo = true;
      }
    }
    const body = chunks();
    const { handler } = peer(() => ({ status: 200, headers: SSE, body }));
    for await (const _ of handler(send("stream"), startCall()) as AsyncIterable<AgentEvent>) break; // it streams
    expect(letGo).toBe(true);
  });
});

describe("following a task", () => {
  const follow: Operation = { kind: "task.subscribe", taskId: RUN, follow: true };

  test("subscribes at a cursor if the peer supports it", async () => {
    const { handler, asked: requests } = peer(() => sse(WORKING, DONE));
    const events: AgentEvent[] = [];
    for await (const event of handler({ ...follow, after: "7.x" as never }, startCall()) as AsyncIterable<AgentEvent>)
      events.push(event); // it streams
    expect(notified(events)).toEqual(["task working", "one ", "completed"]);
    expect(requests[0]?.headers).toMatchObject({ "last-event-id": "7.x" });
    expect(requests[0]?.headers["accept"]).toMatch(/^text\/event-stream/);
  });

  test("polls the log otherwise, without duplicates", async () => {
    const logs = [
      [CREATED, WORKING],
      [CREATED, WORKING, ...PIECES],
      [CREATED, WORKING, ...PIECES, DONE],
    ];
    const events = await outcome((_, count) => json({ events: logs[count - 1] }), follow);
    expect(notified(events)).toEqual(["task submitted", "working", "one ", "+two", "completed"]);
  });

  test("ends with the call", async () => {
    const cancel = new CancelSource();
    const events = await outcome(
      (_, count) => {
        if (count === 2) cancel.cancel(new AgentError("cancelled", "enough"));
        return json({ events: [CREATED, WORKING] });
      },
      follow,
      startCall({ cancel }),
    );
    expect(notified(events)).toEqual(["task submitted", "working", "cancelled"]);
  });

  test("ends at its deadline", async () => {
    expect(notified(await outcome(() => json({ events: [CREATED] }), follow, startCall({ deadline: 1_000 })))).toEqual([
      "task submitted",
      "deadline",
    ]);
  });

  test("ends at once when its reader leaves during a delay", async () => {
    const { handler, asked: requests } = peer(() => json({ events: [CREATED] }));
    const events = (handler(follow, startCall()) as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](); // it streams
    await events.next();
    const waiting = events.next();
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(requests.length).toBe(1);
  });

  test("without following returns the current log", async () => {
    expect(notified(await outcome(() => json({ events: [CREATED, WORKING] }), { ...follow, follow: false }))).toEqual([
      "task submitted",
      "working",
    ]);
    const rest = await outcome(() => json({ events: [CREATED, WORKING, ...PIECES] }), {
      ...follow,
      follow: false,
      after: "log-4" as never,
    });
    expect(notified(rest)).toEqual(["+two"]);
  });
});

describe("ping", () => {
  const manifest = { name: "echo", description: null };
  test("is answered by the server and for the agent", async () => {
    const { handler, asked: requests } = peer(({ target }) => json(target.endsWith("/ping") ? {} : manifest));
    expect(await handler({ kind: "ping" }, startCall())).toEqual({ kind: "done" });
    expect(requests.map(({ target }) => target)).toEqual(["http://acp.example/base/ping", "http://acp.example/base/agents/echo"]);
  });

  test.each<[string, (request: HttpRequest) => HttpResponse, string]>([
    ["text", () => ({ status: 200, headers: {}, body: "pong" }), "bad_peer"],
    [
      "no such agent",
      ({ target }) => (target.endsWith("/ping") ? json({}) : json({ code: "not_found", message: "no" }, 404)),
      "not_found",
    ],
    ["another agent", ({ target }) => json(target.endsWith("/ping") ? {} : { name: "other" }), "bad_peer"],
  ])("%s is not", async (_, answer, code) => {
    expect(await outcome(answer, { kind: "ping" })).toEqual([code]);
  });
});
