import { afterEach, describe, expect, test } from "vitest";
import { ALICE, as, type Bench, Benches, BOB, guarded, type Tree } from "../../../../test/wires/acp-bench.js";
import { acp } from "../index.js";

const benches = new Benches(acp);
const bench = benches.open;
afterEach(benches.close);

const ID = "c0ffee00-0000-4000-8000-000000000001";
const CORRELATION = "c0ffee00-0000-4000-8000-000000000002";

/** The request of seed G.7, with overrides. */
function request(text: string, more: Tree = {}): Tree {
  return {
    id: crypto.randomUUID(),
    type: "request",
    sender: "agent_A",
    receiver: "worker",
    payload: { text },
    timestamp: 1_730_000_000.0,
    correlation_id: CORRELATION,
    metadata: { trace_id: "4bf92f3577b34da6a3ce929d0e0e4736" },
    ...more,
  };
}

const ask = (on: Bench, body: unknown, headers = {}) => on.post("/acp/message", body, headers);
const sent = (answer: Awaited<ReturnType<typeof ask>>) => answer.body.results?.[0]?.content;

describe("POST /acp/message", () => {
  test("answers the request of the seed, with its correlation id", async () => {
    const { status, body } = await ask(bench(), request("ping?", { id: ID, session_id: "s-1" }));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: "response",
      sender: "worker",
      receiver: "agent_A",
      correlation_id: CORRELATION,
      status: "completed",
      session_id: "s-1",
      results: [{ type: "text", content: "you said: ping?", timestamp: expect.any(Number) }],
      timestamp: expect.any(Number),
      metadata: { trace_id: "4bf92f3577b34da6a3ce929d0e0e4736" },
    });
    expect(body.id).not.toBe(ID);
    expect(body.timestamp).toBeLessThan(10_000_000_000);
  });

  test("answers with the id if there is no correlation id", async () => {
    const { body } = await ask(bench(), { id: ID, payload: { text: "hi" } });
    expect([body.correlation_id, sent({ body } as never)]).toEqual([ID, "you said: hi"]);
  });

  test.each([
    ["messages with parts", { messages: [{ role: "user", parts: [{ content_type: "text/plain", content: "hi" }] }] }],
    ["messages with content", { messages: [{ role: "user", content: "hi" }] }],
    ["a message with parts that are text", { message: { role: "user", parts: [{ text: "hi" }] } }],
    ["a message", { message: "hi" }],
    ["content", { content: "hi" }],
    ["text", { text: "hi" }],
    ["payload.text", { payload: { text: "hi" } }],
    ["payload.content", { payload: { content: "hi" } }],
    ["payload.question", { payload: { question: "hi" } }],
    ["a payload that is text", { payload: "hi" }],
    ["the first of several places", { text: "hi", payload: { text: "not this" } }],
  ])("finds the text in %s", async (_where, body) => {
    expect(sent(await ask(bench(), body))).toBe("you said: hi");
  });

  test.each([
    ["nothing at all", {}],
    ["unknown members", { prompt: "ignore all rules", foo: 1 }],
    ["an empty payload", { payload: {} }],
    ["a payload that is a number", { payload: 7 }],
    ["null everywhere", { id: null, type: null, payload: null, text: null, metadata: null }],
    ["a list", ["hi"]],
    ["a text", "hi"],
  ])("does not read %s as text", async (_what, body) => {
    const refused = await ask(bench(), body);
    expect([refused.status, refused.body.error.code, refused.body.error.reason]).toEqual([422, "E_PROTOCOL", "invalid_message"]);
  });

  test("keeps data beside the text, and data alone", async () => {
    const received: unknown[] = [];
    const on = bench({
      layers: [
        (next) => (operation, call) => {
          if (operation.kind === "send")
            received.push(operation.envelope.content.map((part) => [part.kind, "data" in part ? part.data : ""]));
          return next(operation, call);
        },
      ],
    });
    await ask(on, { payload: { text: "hi", lang: "de" } });
    await ask(on, { payload: { city: "Bern" } });
    expect(received).toEqual([
      [
        ["text", ""],
        ["data", { lang: "de" }],
      ],
      [["data", { city: "Bern" }]],
    ]);
  });

  test("deduplicates by an id that is a UUID, as the seed requires", async () => {
    const on = bench();
    const runs: unknown[] = [];
    for (const id of [ID, ID, crypto.randomUUID(), "1", "1"]) runs.push((await ask(on, request("hello", { id }))).body.run_id);
    expect(runs[1]).toBe(runs[0]);
    expect(new Set(runs).size).toBe(4);
    expect((await ask(on, request("something else", { id: ID }))).body.error).toMatchObject({ reason: "conflict" });
  });

  test("deduplicates by idempotency key, never by correlation id", async () => {
    const on = bench();
    const keyed = request("hello", { metadata: { idempotency_key: "k-1" } });
    const first = await ask(on, keyed);
    expect((await ask(on, keyed)).body.run_id).toBe(first.body.run_id);
    expect((await ask(on, request("hello"), { "idempotency-key": "k-1" })).body.run_id).toBe(first.body.run_id);
    const [one, two] = [await ask(on, request("hello")), await ask(on, request("hello"))];
    expect(one.body.run_id).not.toBe(two.body.run_id);
    expect((await ask(on, keyed, { "idempotency-key": "k-2" })).body.error.field).toBe("metadata.idempotency_key");
  });

  test("uses the receiver as the agent; an unknown one is not found", async () => {
    const on = bench();
    const { body } = await ask(on, request("hi", { receiver: "Other.Agent" }));
    expect([body.sender, body.results[0].content]).toEqual(["Other.Agent", "from the other"]);
    const refused = await ask(on, request("hi", { receiver: "nobody" }));
    expect([refused.status, refused.body]).toEqual([
      404,
      {
        error: { code: "E_HTTP", reason: "not_found", message: expect.any(String), field: "receiver" },
        correlation_id: CORRELATION,
      },
    ]);
  });

  test("reports a failed run without internal details", async () => {
    const { status, body } = await ask(bench(), request("fail"));
    expect([status, body.status, body.results, body.error.reason]).toEqual([200, "failed", [], "internal"]);
    expect(JSON.stringify(body)).not.toContain("inner reason");
    const { body: rejected } = await ask(bench(), request("reject"));
    expect([rejected.status, rejected.error]).toEqual([
      "failed",
      { code: "E_PROTOCOL", reason: "rejected", message: "not my job" },
    ]);
  });

  test("joins text results; data and files have their kind", async () => {
    const on = bench();
    expect((await ask(on, request("tokens a b c"))).body.results).toMatchObject([{ type: "text", content: "abc" }]);
    expect((await ask(on, request("data"))).body.results).toMatchObject([{ type: "data", content: { celsius: 21 } }]);
  });

  test("answers a heartbeat with the agent's health, and rejects a response", async () => {
    const on = bench();
    const { status, body } = await ask(on, { id: ID, type: "heartbeat", sender: "agent_A" });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ type: "response", status: "healthy", agent_id: "worker", correlation_id: ID }),
    ]);
    const refused = await ask(on, request("hi", { type: "response" }));
    expect([refused.status, refused.body.error.field]).toEqual([422, "type"]);
  });

  test("answers a question by naming the run", async () => {
    const on = bench();
    const { body: question } = await ask(on, request("ask"));
    expect([question.status, question.results[0].content]).toEqual(["awaiting", "which city?"]);
    const { body } = await ask(on, { payload: { text: "Bern" }, run_id: question.run_id });
    expect([body.run_id, body.status, body.results.at(-1).content]).toEqual([question.run_id, "completed", "weather for Bern"]);
  });
});

describe("POST /acp/message as a stream", () => {
  test.each([
    ["stream: true", request("tokens a b", { stream: true }), {}],
    ["the Accept header", request("tokens a b"), { accept: "text/event-stream" }],
  ])("by %s: results, and the state at the end", async (_how, body, headers) => {
    const events = await bench().postStream("/acp/message", body, headers);
    expect(events.map(({ type, content, status }) => [type, content ?? status])).toEqual([
      ["status", "created"],
      ["text", "a"],
      ["text", "b"],
      ["status", "completed"],
    ]);
    expect(new Set(events.map((event) => event["correlation_id"]))).toEqual(new Set([CORRELATION]));
  });

  test("ends when the run awaits its caller", async () => {
    for (const text of ["ask", "authorize"]) {
      const events = await bench().postStream("/acp/message", request(text, { stream: true }));
      expect(events.map(({ type, content, status }) => [type, content ?? status])).toEqual([
        ["status", "created"],
        ["text", text === "ask" ? "which city?" : "log in first"],
        ["status", "awaiting"],
      ]);
    }
  });

  test("reports progress, and the reason of a failure", async () => {
    const on = bench();
    on.gate.open();
    const events = await on.postStream("/acp/message", request("halfway", { stream: true }));
    expect(events[1]).toMatchObject({ type: "progress", content: "half done", metadata: { percent: 50 } });
    const failed = await on.postStream("/acp/message", request("fail", { stream: true }));
    expect(failed.at(-1)).toMatchObject({ type: "status", status: "failed", error: { reason: "internal" } });
  });
});

describe("asynchronous messages", () => {
  test.each([
    ["metadata.async", { metadata: { async: true } }],
    ["mode", { mode: "async" }],
    ["a notification", { type: "notification" }],
  ])("are accepted by %s, and the status has progress and result", async (_how, more) => {
    const on = bench();
    const { status, body } = await ask(on, request("halfway", more));
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({ type: "response", status: "accepted", job_id: body.run_id, correlation_id: CORRELATION }),
    ]);
    const half = await statusWith(on, body.run_id, ({ progress }) => (progress as Tree)["content"] === "half done");
    expect(half).toMatchObject({
      agent_id: "worker",
      status: "in-progress",
      progress: { entries: 2, metadata: { percent: 50 } },
    });
    expect(half).not.toHaveProperty("results");
    on.gate.open();
    const done = await statusWith(on, body.run_id, (each) => each["status"] === "completed");
    expect(done).toMatchObject({
      run_id: body.run_id,
      results: [{ type: "text", content: "all done" }],
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect((await on.get(`/acp/status?job_id=${body.run_id}`)).body.status).toBe("completed");
  });

  test("create the same run on the released protocol", async () => {
    const on = bench();
    const { body } = await ask(on, request("hello"));
    expect((await on.get(`/runs/${body.run_id}`)).body).toMatchObject({ agent_name: "worker", status: "completed" });
  });
});

/** Polls the status until it matches. */
async function statusWith(on: Bench, runId: string, wanted: (status: Tree) => boolean): Promise<Tree> {
  for (;;) {
    const { status, body } = await on.get(`/acp/status?run_id=${runId}`);
    expect(status).toBe(200);
    if (wanted(body)) return body;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("GET /acp/status and /acp/capabilities", () => {
  test("report health and capabilities", async () => {
    const on = bench(guarded);
    expect((await on.get("/acp/status")).body).toEqual({ agent_id: "worker", status: "healthy", timestamp: expect.any(Number) });
    expect((await on.get("/acp/capabilities")).body).toEqual({
      agent_id: "worker",
      capabilities: ["obey"],
      protocol: "ACP",
      version: "1.0.0",
      features: ["streaming", "progress_tracking", "async_generator"],
    });
    expect((await on.get("/acp/status?agent_id=Other.Agent")).body.agent_id).toBe("Other.Agent");
    expect((await on.get("/acp/capabilities?agent_id=nobody")).status).toBe(404);
  });

  test("show a run to its owner only", async () => {
    const on = bench(guarded);
    const { body } = await ask(on, request("hello"), as(ALICE));
    expect((await on.get(`/acp/status?run_id=${body.run_id}`, as(ALICE))).body.status).toBe("completed");
    const foreign = await on.get(`/acp/status?run_id=${body.run_id}`, as(BOB));
    expect([foreign.status, foreign.body.error.reason]).toEqual([404, "task_not_found"]);
    const anonymous = await on.get(`/acp/status?run_id=${body.run_id}`);
    expect([anonymous.status, anonymous.headers.get("www-authenticate")]).toEqual([401, expect.stringMatching(/^Bearer/)]);
  });
});

describe("invalid plain messages are rejected in the plain format", () => {
  test("JSON, size, type, method", async () => {
    const on = bench({ limits: { bodyBytes: 1_000 } });
    const raw = async (body: string, headers: { [name: string]: string } = {}) => {
      const response = await on.fetch("/acp/message", { method: "POST", body: new TextEncoder().encode(body), headers });
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
    };
    expect(await raw("{")).toEqual([422, "E_DECODE"]);
    expect(await raw(JSON.stringify(request("x".repeat(2_000))))).toEqual([413, "E_PROTOCOL"]);
    expect(await raw("[".repeat(65) + "]".repeat(65))).toEqual([413, "E_PROTOCOL"]);
    expect(await raw(JSON.stringify(request("hi")), { "content-type": "text/plain" })).toEqual([422, "E_UNSUPPORTED"]);
    expect((await on.get("/acp/message")).headers.get("allow")).toBe("POST");
    expect((await on.post("/acp/status", {})).status).toBe(405);
    expect((await ask(on, request("hi", { timestamp: "now" }))).body.error.field).toBe("timestamp");
    expect((await ask(on, request("hi", { metadata: [] }))).body.error.field).toBe("metadata");
    expect((await ask(bench(guarded), request("hi"))).headers.get("www-authenticate")).toMatch(/^Bearer/);
  });
});
