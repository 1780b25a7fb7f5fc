import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { ALICE, as, Benches, guarded, runOf } from "../../../../test/wires/acp-bench.js";
import type { JsonObject } from "../../../envelope/index.js";
import { acp } from "../index.js";

const benches = new Benches(acp);
const bench = benches.open;
afterEach(benches.close);

const RUN = "00000000-0000-4000-8000-000000000000";
const JSON_TYPE = { "content-type": "application/json" };

/** The format of every error, the only one that the TypeScript client accepts. */
const refusal = (code: string, message?: RegExp) => ({
  code,
  message: message === undefined ? expect.any(String) : expect.stringMatching(message),
  data: expect.any(Object),
});

const part = (value: unknown) => ({ agent_name: "worker", input: [{ role: "user", parts: [value] }] });
const message = (value: unknown) => ({ agent_name: "worker", input: [value] });

const BAD_RUNS: readonly (readonly [string, unknown, string])[] = [
  ["a list", [], "body"],
  ["null", null, "body"],
  ["no agent_name", { input: [] }, "agent_name"],
  ["an agent_name that is a number", { agent_name: 1, input: [] }, "agent_name"],
  ["no input", { agent_name: "worker" }, "input"],
  ["input that is text", { agent_name: "worker", input: "hello" }, "input"],
  ["a message that is text", message("hello"), "input[0]"],
  ["a role that is none", message({ role: "assistant", parts: [] }), "input[0].role"],
  ["parts that are text", message({ role: "user", parts: "hello" }), "input[0].parts"],
  ["a part that is text", part("hello"), "input[0].parts[0]"],
  ["content that is an object", part({ content_type: "text/plain", content: {} }), "input[0].parts[0].content"],
  ["a mode that is none", runOf("hi", { mode: "later" }), "mode"],
  ["a session that is no UUID", runOf("hi", { session_id: "s-1" }), "session_id"],
  ["a session that is a number", runOf("hi", { session_id: 7 }), "session_id"],
];

describe("invalid requests are rejected in ACP format, naming the invalid member", () => {
  test.each(BAD_RUNS)("%s", async (_what, body, field) => {
    const refused = await bench().post("/runs", body, JSON_TYPE);
    expect([refused.status, refused.body]).toEqual([422, refusal("invalid_input")]);
    expect(refused.body.data).toMatchObject({ code: "invalid_message", field: expect.stringContaining(field) });
  });

  test("content and a URL at once", async () => {
    const both = { content_type: "text/plain", content: "x", content_url: "https://example.com/x" };
    expect(await bench().post("/runs", part(both))).toMatchObject({ status: 422, body: { code: "invalid_input" } });
  });

  test("two different session ids: 400, as the official server answers", async () => {
    const session = { id: "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11", history: [] };
    const { status, body } = await bench().post("/runs", runOf("hi", { session, session_id: RUN }));
    expect([status, body]).toEqual([400, refusal("invalid_input", /^Session ID mismatch$/)]);
  });

  test.each([
    ["no JSON", "{", 422, "decode"],
    ["nothing", "", 422, "decode"],
    ["bytes that are no text", new Uint8Array([0x22, 0xff, 0x22]), 422, "decode"],
    ["nested too deep", "[".repeat(65) + "]".repeat(65), 413, "too_large"],
  ])("a body that is %s", async (_what, body, status, code) => {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    for (const path of ["/runs", `/runs/${RUN}`]) {
      const response = await bench().fetch(path, { method: "POST", body: bytes });
      const refused = await response.json();
      expect([response.status, refused]).toEqual([status, refusal("invalid_input")]);
      expect(refused).toMatchObject({ data: { code } });
    }
  });

  test("a body that is too large", async () => {
    const on = bench({ limits: { bodyBytes: 1_000 } });
    const { status, body } = await on.post("/runs", runOf("x".repeat(2_000)));
    expect([status, body]).toEqual([413, refusal("invalid_input", /longer than 1000 bytes/)]);
    expect((await on.post("/runs", runOf("hello"))).status).toBe(200);
  });

  test("too many parts", async () => {
    const parts = Array.from({ length: 257 }, () => ({ content_type: "text/plain", content: "x" }));
    expect(await bench().post("/runs", message({ role: "user", parts }))).toMatchObject({
      status: 413,
      body: { code: "invalid_input", data: { code: "too_large" } },
    });
  });

  test("a body with another content type, which a web page could send", async () => {
    const on = bench();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const { status, body } = await on.post("/runs", runOf("hello"), { "content-type": type });
      expect([type, status, body]).toEqual([type, 422, refusal("invalid_input", /must be application\/json/)]);
    }
    expect((await on.post("/runs", runOf("hello"), { "content-type": "application/json; charset=utf-8" })).status).toBe(200);
  });

  test("ids that are not UUIDs", async () => {
    const on = bench();
    for (const path of ["/runs/r-1", "/runs/r-1/events", "/sessions/s-1", "/session/s-1", "/resources/x"])
      expect([path, await on.get(path)]).toMatchObject([path, { status: 422, body: refusal("invalid_input") }]);
    for (const path of ["/runs/r-1", "/runs/r-1/cancel"])
      expect([path, await on.post(path, {})]).toMatchObject([path, { status: 422, body: refusal("invalid_input") }]);
  });

  test("a resume without a mode, without content, or of an undefined kind", async () => {
    const on = bench();
    const { body: run } = await on.post("/runs", runOf("ask"));
    const resume = { type: "message", message: { role: "user", parts: [] } };
    for (const [body, field] of [
      [{ await_resume: resume }, "mode"],
      [{ mode: "sync" }, "await_resume"],
      [{ await_resume: { ...resume, type: "vote" }, mode: "sync" }, "await_resume.type"],
      [{ await_resume: { type: "message" }, mode: "sync" }, "await_resume.message"],
    ] as const) {
      const { status, body: refused } = await on.post(`/runs/${run.run_id}`, body);
      expect([field, status, refused.data.field]).toEqual([field, 422, field]);
    }
    expect((await on.get(`/runs/${run.run_id}`)).body.status).toBe("awaiting");
  });

  test("an invalid envelope header", async () => {
    const { status, body } = await bench().post("/runs", runOf("hello"), { "koine-envelope": "%%%" });
    expect([status, body.data.field]).toEqual([422, "koine-envelope"]);
  });
});

describe("arbitrary JSON", () => {
  /** A valid body with one member replaced. */
  const changed = (good: JsonObject): fc.Arbitrary<unknown> =>
    fc
      .tuple(fc.constantFrom(...Object.keys(good), "session", "mode", "stream", "context", "messages"), fc.jsonValue())
      .map(([name, value]) => ({
        ...good,
        [name]: value,
      }));
  const plain: JsonObject = {
    id: "1",
    type: "request",
    sender: "a",
    receiver: "worker",
    payload: { text: "hi" },
    metadata: {},
    timestamp: 1,
  };

  test.each([
    ["/runs", runOf("hi", { session_id: RUN })],
    ["/acp/message", plain],
  ])("%s is answered or rejected, and never fails", async (path, good) => {
    const on = bench();
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), changed(good)), async (body) => {
        const response = await on.fetch(path, { method: "POST", body: new TextEncoder().encode(JSON.stringify(body)) });
        await response.text();
        expect(response.status).toBeLessThan(500);
      }),
      { numRuns: 200 },
    );
  });
});

describe("unknown resources", () => {
  test("are not found: an agent, a run, a route", async () => {
    const on = bench();
    expect(await on.post("/runs", { ...runOf("hi"), agent_name: "nobody" })).toMatchObject({
      status: 404,
      body: refusal("not_found"),
    });
    expect(await on.get(`/runs/${RUN}`)).toMatchObject({ status: 404, body: refusal("not_found") });
    for (const path of [`/runs/${RUN}/nothing`, "/agents/worker/x", "/sessions/a/b", "/resources/a/b", `/runs/${RUN}/events/1`])
      expect([path, await on.get(path)]).toMatchObject([path, { status: 404, body: refusal("not_found") }]);
  });

  test("an unsupported method: 405 with the supported ones", async () => {
    const on = bench();
    for (const [method, path, allow] of [
      ["GET", "/runs", "POST"],
      ["DELETE", `/runs/${RUN}`, "GET, HEAD, POST"],
      ["GET", `/runs/${RUN}/cancel`, "POST"],
      ["POST", `/runs/${RUN}/events`, "GET, HEAD"],
      ["POST", "/agents", "GET, HEAD"],
      ["PUT", "/agents/worker", "GET, HEAD"],
      ["POST", `/sessions/${RUN}`, "GET, HEAD"],
      ["POST", "/ping", "GET, HEAD"],
    ] as const) {
      const response = await on.fetch(path, { method });
      expect([path, response.status, response.headers.get("allow")]).toEqual([path, 405, allow]);
      expect(await response.json()).toEqual(refusal("server_error"));
    }
  });
});

describe("admission", () => {
  test("a caller without credentials learns the scheme, on every route but the public ones", async () => {
    const on = bench(guarded);
    for (const [method, path] of [
      ["POST", "/runs"],
      ["GET", `/runs/${RUN}`],
      ["POST", `/runs/${RUN}`],
      ["POST", `/runs/${RUN}/cancel`],
      ["GET", `/runs/${RUN}/events`],
      ["GET", `/sessions/${RUN}`],
      ["GET", `/resources/${RUN}.0`],
      // Ids are validated only after authentication.
      ["GET", "/runs/no-id"],
      ["GET", "/sessions/no-id"],
      ["GET", "/resources/no-id"],
    ] as const) {
      const response = await on.fetch(path, { method });
      expect([path, response.status, response.headers.get("www-authenticate")]).toEqual([
        path,
        401,
        expect.stringMatching(/^Bearer/),
      ]);
      expect(await response.json()).toEqual(refusal("server_error"));
    }
    expect((await on.post("/runs", runOf("hello"), as(ALICE))).status).toBe(200);
  });

  test("a caller with too many open streams gets a retry delay", async () => {
    const on = bench({ limits: { openStreamsPerOwner: 1 } });
    const body = new TextEncoder().encode(JSON.stringify(runOf("halfway", { mode: "stream" })));
    const open = await on.fetch("/runs", { method: "POST", body });
    const refused = await on.post("/runs", runOf("hello", { mode: "stream" }));
    expect([refused.status, refused.headers.get("retry-after"), refused.body]).toEqual([429, "1", refusal("server_error")]);
    await open.body?.cancel();
  });
});
