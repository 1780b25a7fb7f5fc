import { describe, expect, test } from "vitest";
import { type Loss, newEnvelope } from "../../../envelope/index.js";
import { END_OF_STREAM } from "../../../transport/sse-items.js";
import { decodePlainReply, PlainStreamReader } from "./reply.js";
import { encodePlainRequest } from "./request.js";

/** Forms of replies that agents of the seeds write to `POST /acp/message` and `GET /acp/status`. */
const ids = { now: () => 5_000, newId: () => "new" };
const asked = newEnvelope({ content: "hello", src: "a", dst: "b", context: { sessionId: "s-1" } }, ids);
const facts = { ids, src: "b", dst: "a", asked };

describe("a whole reply", () => {
  test.each([
    ["texts", ["one", "two"], [{ text: "one" }, { text: "two" }]],
    ["content", [{ content: "one" }], [{ text: "one" }]],
    ["data of the type data", [{ type: "data", data: "7" }], [{ kind: "data", data: "7" }]],
    ["an object without known members", [{ score: 3 }], [{ kind: "data", data: { score: 3 } }]],
    ["a link", [{ url: "https://x.test/a", name: "a" }], [{ kind: "url", url: "https://x.test/a", name: "a" }]],
    [
      "bytes",
      [{ content: "AQI=", content_encoding: "base64", content_type: "" }],
      [{ kind: "raw", bytes: new Uint8Array([1, 2]) }],
    ],
    ["a dumped message", [{ role: "agent", parts: [{ content: "one" }, "two"] }], [{ text: "one" }, { text: "two" }]],
  ])("%s", (_, results, parts) => {
    expect(decodePlainReply({ results }, facts)).toMatchObject({ kind: "message", message: { content: parts } });
  });

  test("a run is a task, with the time and the session of the peer", () => {
    const done = { run_id: "r", status: "completed", results: ["one"], session_id: "s-2", updated_at: 12.5 };
    expect(decodePlainReply(done, facts)).toMatchObject({
      task: { id: "r", contextId: "s-2", status: { state: "completed", at: 12_500 }, artifacts: [{ parts: [{ text: "one" }] }] },
    });
    const begun = { job_id: "j", status: "accepted", timestamp: 3 };
    expect(decodePlainReply(begun, { ...facts, asked: undefined })).toMatchObject({
      task: { id: "j", contextId: "", status: { state: "submitted", at: 3_000 }, artifacts: [] },
    });
    const asking = { run_id: "r", status: "awaiting", results: ["which?"] };
    expect(decodePlainReply(asking, facts)).toMatchObject({
      task: { contextId: "s-1", status: { state: "input-required", at: 5_000, message: { content: [{ text: "which?" }] } } },
    });
  });

  test("a failed run has the error of the peer, and one word stands for rejected", () => {
    const failed = { run_id: "r", status: "failed", error: "no room" };
    expect(decodePlainReply(failed, facts)).toMatchObject({
      task: { status: { state: "failed", error: { code: "internal", message: "no room" } } },
    });
    const rejected = { run_id: "r", status: "failed", error: { reason: "rejected", message: "not here" } };
    expect(decodePlainReply(rejected, facts)).toMatchObject({
      task: { status: { state: "rejected", message: { content: [{ text: "not here" }] } } },
    });
  });

  test.each([
    ["an error", { error: { message: "broken" } }, { code: "internal", message: "broken" }],
    ["a state without a run", { status: "in-progress" }, { code: "bad_peer", message: expect.stringContaining("in-progress") }],
    ["results that are no list", { results: 1 }, { code: "bad_peer" }],
    ["a result that is a number", { results: [1] }, { code: "bad_peer" }],
    ["no object", "text", { code: "bad_peer" }],
  ])("%s is thrown", (_, body, error) => {
    expect(() => decodePlainReply(body, facts)).toThrow(expect.objectContaining(error));
  });
});

describe("a streamed reply", () => {
  test("pieces without a state are completed by the end", () => {
    const reader = new PlainStreamReader(facts);
    const events = [...reader.read("one"), ...reader.read({ content: "two" }), ...reader.read(END_OF_STREAM)];
    expect(events.map(({ kind }) => kind)).toEqual(["task", "artifact", "artifact", "status"]);
  });

  test("a peer that reports states was interrupted if the stream ends without the last one", () => {
    const reader = new PlainStreamReader(facts);
    expect(reader.read({ type: "progress", run_id: "r", content: "half", timestamp: 4 })).toMatchObject([
      { kind: "task", task: { id: "r" } },
      { kind: "status", taskId: "r", status: { state: "working", at: 4_000, message: { content: [{ text: "half" }] } } },
    ]);
    expect(reader.read({ type: "progress" })).toMatchObject([{ status: { state: "working", at: 5_000 } }]);
    expect(reader.read(END_OF_STREAM)).toEqual([]);
    expect(reader.read({ type: "status", status: "completed" })).toMatchObject([{ status: { state: "completed" } }]);
  });

  test.each([{ results: ["one"] }, { status: "completed", results: ["one"] }])("the whole reply %j", (item) => {
    expect(new PlainStreamReader(facts).read(item)).toMatchObject([{ kind: "message" }]);
  });

  test.each([
    [{ type: "stream_error", error: "broken" }, { message: "broken" }],
    [{ error: { message: "broken" } }, { message: "broken" }],
    [{ type: "status", status: "unheard of" }, { code: "bad_peer" }],
    [null, { code: "bad_peer" }],
  ])("%j is thrown", (item, error) => {
    expect(() => new PlainStreamReader(facts).read(item)).toThrow(expect.objectContaining(error));
  });
});

describe("a request", () => {
  const wireOf = (content: readonly object[], delivery: "answer" | "accepted" | "stream" = "answer", losses: Loss[] = []) => {
    const envelope = { ...asked, intent: "skill", meta: { retryCount: 2 }, content: content as typeof asked.content };
    return encodePlainRequest({ envelope, delivery }, "b", (loss) => losses.push(loss));
  };

  test("says how the answer is read", () => {
    expect(wireOf([{ kind: "text", text: "hi" }])).toMatchObject({ payload: { text: "hi" }, stream: false, session_id: "s-1" });
    expect(wireOf([], "stream")).toMatchObject({ stream: true });
    expect(wireOf([], "accepted")).toMatchObject({ stream: false, mode: "async" });
  });

  test.each([
    [{ kind: "data", data: { city: "Bern" } }, { payload: { city: "Bern" } }],
    [
      { kind: "data", data: { text: "x" } },
      { payload: {}, messages: [{ parts: [{ content: '{"text":"x"}' }] }] },
    ],
    [{ kind: "data", data: 7 }, { messages: [{ parts: [{ content: "7", content_type: "application/json" }] }] }],
    [
      { kind: "text", text: "x", name: "n" },
      { payload: { text: "x" }, messages: [{ parts: [{ name: "n", content_type: "text/plain" }] }] },
    ],
    [
      { kind: "raw", bytes: new Uint8Array([1, 2]) },
      { messages: [{ parts: [{ content: "AQI=", content_encoding: "base64" }] }] },
    ],
    [{ kind: "url", url: "https://x.test/a" }, { messages: [{ parts: [{ content_url: "https://x.test/a" }] }] }],
  ])("%j", (part, wire) => {
    expect(wireOf([part])).toMatchObject(wire);
  });

  test("reports what it cannot carry", () => {
    const losses: Loss[] = [];
    wireOf([{ kind: "text", text: "x", metadata: { a: 1 }, mediaType: "application/octet-stream" }], "answer", losses);
    expect(losses.map(({ path }) => path).sort()).toEqual([
      "message.intent",
      "message.meta.retryCount",
      "message.parts[0].mediaType",
      "message.parts[0].metadata",
    ]);
  });
});
