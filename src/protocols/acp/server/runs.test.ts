import { afterEach, describe, expect, test } from "vitest";
import {
  ALICE,
  as,
  type Bench,
  Benches,
  BOB,
  ended,
  eventsIn,
  guarded,
  runOf,
  type Tree,
} from "../../../../test/wires/acp-bench.js";
import { type Envelope, type JsonObject, type Layer, newEnvelope } from "../../../envelope/index.js";
import { agent } from "../../../index.js";
import { isStream } from "../../../transport/exchange.js";
import { makeRequest } from "../../../transport/request.js";
import { front } from "../../front.js";
import { createHost } from "../../host.js";
import { acp } from "../index.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SESSION = "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11";

const benches = new Benches(acp);
const bench = benches.open;
afterEach(benches.close);

/** The resume of an awaiting run. */
function resumeWith(text: string, mode: string): Tree {
  const message = { role: "user", parts: [{ content_type: "text/plain", content: text }] };
  return { await_resume: { type: "message", message }, mode };
}

const types = (events: readonly Tree[]): readonly unknown[] => events.map(({ type }) => type);
interface SentRun {
  readonly output: readonly { readonly parts: readonly { readonly content: string }[] }[];
}
/** The text output of a run, one line per message. */
function textOf(run: unknown): string {
  const { output } = run as SentRun; // what a server wrote; a test that reads anything else fails
  return output.map(({ parts }) => parts.map(({ content }) => content).join("")).join("\n");
}

describe("POST /runs", () => {
  test("sync: waits for the end, and returns all members of a run", async () => {
    const { status, headers, body } = await bench().post("/runs", runOf("hello", { session_id: SESSION }));
    expect([status, headers.get("run-id")]).toEqual([200, body.run_id]);
    expect(Object.keys(body)).toEqual([
      "run_id",
      "agent_name",
      "session_id",
      "status",
      "await_request",
      "output",
      "error",
      "created_at",
      "finished_at",
    ]);
    expect(body).toMatchObject({
      run_id: expect.stringMatching(UUID),
      agent_name: "worker",
      session_id: SESSION,
      status: "completed",
      await_request: null,
      error: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/),
      finished_at: expect.stringMatching(/Z$/),
    });
    expect(body.output).toHaveLength(1);
    expect(body.output[0]).toMatchObject({
      role: "agent/worker",
      parts: [
        { name: null, content_type: "text/plain", content: "you said: hello", content_encoding: "plain", content_url: null },
      ],
    });
  });

  test("is sync without a mode, or with null; null is absent everywhere", async () => {
    const part = {
      name: null,
      content_type: "text/plain",
      content: "hi",
      content_encoding: "plain",
      content_url: null,
      metadata: null,
    };
    const input = [{ role: "user", parts: [part], created_at: null, completed_at: null }];
    const { status, body } = await bench().post("/runs", {
      agent_name: "worker",
      input,
      mode: null,
      session: null,
      session_id: null,
    });
    expect([status, body.status, textOf(body)]).toEqual([200, "completed", "you said: hi"]);
    expect(body.session_id).toMatch(UUID);
  });

  test("a failed run is a result, without internal details", async () => {
    const { status, body } = await bench().post("/runs", runOf("fail"));
    expect([status, body.status, body.error.code]).toEqual([200, "failed", "server_error"]);
    expect(JSON.stringify(body)).not.toContain("inner reason");
  });

  test("async: is accepted at once, and polled until it ends", async () => {
    const on = bench();
    const { status, headers, body } = await on.post("/runs", runOf("wait", { mode: "async" }));
    expect([status, body.status, headers.get("run-id")]).toEqual([202, "created", body.run_id]);
    expect((await on.get(`/runs/${body.run_id}`)).body.finished_at).toBeNull();
    on.gate.open();
    expect(await ended(on, body.run_id)).toMatchObject({ status: "completed", run_id: body.run_id, created_at: body.created_at });
  });

  test("stream: all events in the order of the official server", async () => {
    const events = await bench().postStream("/runs", runOf("tokens a b c", { mode: "stream" }));
    expect(types(events)).toEqual([
      "run.created",
      "run.in-progress",
      "message.created",
      "message.part",
      "message.part",
      "message.part",
      "message.completed",
      "run.completed",
    ]);
    expect(events.filter(({ type }) => type === "message.part")).toMatchObject(
      ["a", "b", "c"].map((content) => ({ part: { content_type: "text/plain", content } })),
    );
    expect(events.at(-1)).toMatchObject({ run: { status: "completed", output: [{ role: "agent/worker" }] } });
  });

  test("stream: names the run in a header, and each event has a cursor", async () => {
    const on = bench();
    const body = new TextEncoder().encode(JSON.stringify(runOf("hello", { mode: "stream" })));
    const response = await on.fetch("/runs", { method: "POST", body });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(response.headers.get("run-id")).toMatch(UUID);
    const ids: (string | undefined)[] = [];
    for await (const { id } of eventsIn(response)) ids.push(id);
    expect(ids.at(-1)).toEqual(expect.any(String));
  });

  test("stream: a failed run ends with run.failed; a stream itself is never an error", async () => {
    const events = await bench().postStream("/runs", runOf("fail", { mode: "stream" }));
    expect(types(events).slice(0, 2)).toEqual(["run.created", "run.in-progress"]);
    expect(events.at(-1)).toMatchObject({ type: "run.failed", run: { status: "failed", error: { code: "server_error" } } });
    expect(types(events)).not.toContain("error");
  });

  test("stream: disconnecting does not stop the run", async () => {
    const on = bench();
    const body = new TextEncoder().encode(JSON.stringify(runOf("halfway", { mode: "stream" })));
    const response = await on.fetch("/runs", { method: "POST", body });
    for await (const { data } of eventsIn(response)) if (data["type"] === "generic") break;
    on.gate.open();
    expect(await ended(on, response.headers.get("run-id") ?? "")).toMatchObject({ status: "completed" });
  });

  test("reaches every agent by its name, with any characters", async () => {
    const { body } = await bench().post("/runs", { ...runOf("hello"), agent_name: "Other.Agent" });
    expect([body.agent_name, textOf(body)]).toEqual(["Other.Agent", "from the other"]);
  });

  test("the same key is the same run, and another request with it is rejected", async () => {
    const on = bench();
    const key = { "idempotency-key": "k-1" };
    const first = await on.post("/runs", runOf("hello"), key);
    const again = await on.post("/runs", runOf("hello"), key);
    expect(again.body.run_id).toBe(first.body.run_id);
    const other = await on.post("/runs", runOf("something else"), key);
    expect(other.body).toMatchObject({
      code: expect.stringMatching(/^(invalid_input|server_error)$/),
      data: { code: "conflict" },
    });
    expect((await on.post("/runs", runOf("hello"))).body.run_id).not.toBe(first.body.run_id);
  });

  test("the stream of an existing run begins at its beginning", async () => {
    const on = bench();
    const key = { "idempotency-key": "k-2" };
    const first = await on.postStream("/runs", runOf("hello", { mode: "stream" }), key);
    const again = await on.postStream("/runs", runOf("hello", { mode: "stream" }), key);
    expect(types(again)).toEqual(types(first));
    expect(again.at(-1)).toEqual(first.at(-1));
  });
});

describe("the message for the agent", () => {
  async function received(headers: { readonly [name: string]: string }): Promise<Envelope> {
    const envelopes: Envelope[] = [];
    const listen: Layer = (next) => (operation, call) => {
      if (operation.kind === "send") envelopes.push(operation.envelope);
      return next(operation, call);
    };
    const on = bench({ layers: [listen] });
    const { body } = await on.post("/runs", { ...runOf("hello"), agent_name: "Other.Agent" }, headers);
    expect((await on.get(`/runs/${body.run_id}`)).body.agent_name).toBe("Other.Agent");
    const [envelope] = envelopes;
    if (envelope === undefined) throw new Error("nothing was heard");
    return envelope;
  }

  test("has its address, trace and idempotency key", async () => {
    const envelope = await received({
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "idempotency-key": "k-1",
    });
    expect(envelope).toMatchObject({
      dst: "Other.Agent",
      role: "user",
      context: { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", idempotencyKey: "k-1" },
    });
  });

  test("keeps the address of its author, and the run still knows its agent", async () => {
    const encoded = (members: JsonObject): string => Buffer.from(JSON.stringify(members)).toString("base64url");
    const elsewhere = { id: "m-1", dst: "https://elsewhere.example" };
    expect(await received({ "koine-envelope": encoded(elsewhere) })).toMatchObject(elsewhere);
    // A caller cannot make its run another agent's.
    const forged = { dst: "Other.Agent", extra: { acp: { agent_name: "worker" } } };
    expect(await received({ "koine-envelope": encoded(forged) })).toMatchObject({ dst: "Other.Agent" });
  });
});

describe("an upstream agent that answers with a message", () => {
  const sent: Envelope = {
    ...newEnvelope({ content: "pong", src: "far", dst: "me", context: {} }, { now: () => 5, newId: () => "m\n1" }),
    role: "agent",
  };
  const { card } = agent({ name: "far", description: "", handle: async () => "" });
  const { exchange } = front(
    createHost({
      handler: async () => ({ kind: "message", message: sent }),
      cards: [card],
      ids: { now: () => 0, newId: () => "x" },
    }),
    [acp],
  );

  test.each(["sync", "async", "stream"])("%s: is a completed run, whose id is not in a header", async (mode) => {
    const body = JSON.stringify({ ...runOf("hi", { mode }), agent_name: "far" });
    const response = await exchange(makeRequest({ method: "POST", url: "http://h/runs", body }));
    expect(response.status).toBe(mode === "async" ? 202 : 200);
    expect(response.headers).not.toHaveProperty("run-id");
    const chunks: string[] = [];
    if (isStream(response.body)) for await (const chunk of response.body) chunks.push(String(chunk));
    else chunks.push(String(response.body));
    expect(chunks.join("")).toContain('"status":"completed"');
    expect(chunks.join("")).toContain('"content":"pong"');
  });
});

describe("GET /runs/{run_id}", () => {
  test("is visible to its owner only", async () => {
    const on = bench(guarded);
    const { body } = await on.post("/runs", runOf("hello"), as(ALICE));
    expect((await on.get(`/runs/${body.run_id}`, as(ALICE))).status).toBe(200);
    const unknown = await on.get("/runs/00000000-0000-4000-8000-000000000000", as(BOB));
    for (const [path, post] of [
      ["", undefined],
      ["/events", undefined],
      ["/cancel", {}],
      ["", resumeWith("x", "sync")],
    ] as const) {
      const path_ = `/runs/${body.run_id}${path}`;
      const foreign = post === undefined ? await on.get(path_, as(BOB)) : await on.post(path_, post, as(BOB));
      expect([foreign.status, foreign.body.code, foreign.body.message]).toEqual([404, "not_found", unknown.body.message]);
    }
  });
});

describe("POST /runs/{run_id}/cancel", () => {
  test("needs no body, is acknowledged, and the run is canceled", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("wait", { mode: "async" }));
    const response = await on.fetch(`/runs/${run.run_id}/cancel`, { method: "POST" });
    const body = (await response.json()) as Tree;
    expect([response.status, body["status"], body["run_id"], body["finished_at"]]).toEqual([202, "cancelling", run.run_id, null]);
    expect(await ended(on, run.run_id)).toMatchObject({ status: "cancelled" });
  });

  test("a finished run cannot be canceled", async () => {
    const on = bench();
    const { body: done } = await on.post("/runs", runOf("hello"));
    expect(await on.post(`/runs/${done.run_id}/cancel`, {})).toMatchObject({ status: 403, body: { code: "server_error" } });
    const { body: waiting } = await on.post("/runs", runOf("wait", { mode: "async" }));
    await on.post(`/runs/${waiting.run_id}/cancel`, {});
    await ended(on, waiting.run_id);
    expect((await on.post(`/runs/${waiting.run_id}/cancel`, {})).status).toBe(403);
    expect((await on.get(`/runs/${done.run_id}`)).body.status).toBe("completed");
  });

  test("ends the stream of the run with run.cancelled", async () => {
    const on = bench();
    const body = new TextEncoder().encode(JSON.stringify(runOf("halfway", { mode: "stream" })));
    const response = await on.fetch("/runs", { method: "POST", body });
    const seen: unknown[] = [];
    for await (const { data } of eventsIn(response)) {
      seen.push(data["type"]);
      if (data["type"] === "generic") await on.post(`/runs/${response.headers.get("run-id")}/cancel`, {});
    }
    expect(seen).toEqual(["run.created", "run.in-progress", "generic", "run.cancelled"]);
  });
});

describe("POST /runs/{run_id}", () => {
  async function awaiting(on: Bench): Promise<Tree> {
    const { status, body } = await on.post("/runs", runOf("ask"));
    expect([status, body.status]).toEqual([200, "awaiting"]);
    expect(body.await_request).toMatchObject({ type: "message", message: { parts: [{ content: "which city?" }] } });
    return body;
  }

  test("sync: resumes the awaiting run", async () => {
    const on = bench();
    const run = await awaiting(on);
    const { status, headers, body } = await on.post(`/runs/${run["run_id"]}`, resumeWith("Bern", "sync"));
    expect([status, headers.get("run-id"), body.run_id, body.status]).toEqual([200, null, run["run_id"], "completed"]);
    expect(textOf(body)).toContain("weather for Bern");
    expect(body.session_id).toBe(run["session_id"]);
  });

  test("async: is accepted at once", async () => {
    const on = bench();
    const run = await awaiting(on);
    const { status, body } = await on.post(`/runs/${run["run_id"]}`, resumeWith("Bern", "async"));
    expect([status, body.run_id]).toEqual([202, run["run_id"]]);
    expect(textOf(await ended(on, String(run["run_id"])))).toContain("weather for Bern");
  });

  test("stream: delivers only further events", async () => {
    const on = bench();
    const run = await awaiting(on);
    const events = await on.postStream(`/runs/${run["run_id"]}`, resumeWith("Bern", "stream"));
    expect(types(events)).toEqual(["run.in-progress", "message.created", "message.part", "message.completed", "run.completed"]);
  });

  test("a stream ends when the run awaits input or authorization", async () => {
    for (const text of ["ask", "authorize"]) {
      const events = await bench().postStream("/runs", runOf(text, { mode: "stream" }));
      expect(types(events)).toEqual(["run.created", "run.in-progress", "run.awaiting"]);
    }
  });

  test("a run that is not awaiting is unchanged, and the answer is rejected", async () => {
    const on = bench();
    const run = await awaiting(on);
    await on.post(`/runs/${run["run_id"]}`, resumeWith("Bern", "sync"));
    const { body: going } = await on.post("/runs", runOf("wait", { mode: "async" }));
    for (const [id, still] of [
      [run["run_id"], "completed"],
      [going.run_id, going.status],
    ]) {
      for (const mode of ["sync", "async", "stream"]) {
        const refused = await on.post(`/runs/${id}`, resumeWith("again", mode));
        expect([refused.status, refused.body.code]).toEqual([403, "server_error"]);
      }
      expect((await on.get(`/runs/${id}`)).body.status).toBe(still);
    }
  });
});
