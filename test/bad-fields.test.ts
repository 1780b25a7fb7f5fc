import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Server } from "../src/index.js";
import { startAgora, TEMPERATURE } from "./peers/agora.js";
import { startKoine } from "./peers/koine.js";
import { ACP_PLAIN, ACP_REST, resumeBody, runBody } from "./wires/acp.js";
import { AGORA, agoraBody, postAgora } from "./wires/agora.js";
import { ask, at, type Sent, type Tree, type Wire } from "./wires/wire.js";

/** BeeAI ACP, its plain form and Agora: errors name the invalid field, in the protocol's own form. A2A is in bad-input.test.ts. */

const SESSION = "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11";
const UNKNOWN_RUN = "00000000-0000-4000-8000-000000000000";

let server: Server;
beforeAll(async () => {
  server = await startKoine();
});
afterAll(() => server?.close());

async function refusal(wire: Wire, sent: Sent, headers: Sent["headers"] = {}) {
  const { status, body } = await ask(server.url, sent, headers);
  return { ...wire.refused(status, body), body };
}

async function expectStillServing(wire: Wire): Promise<void> {
  const { status, body } = await ask(server.url, wire.send(wire.params("hello")));
  expect([status, wire.text(body)]).toEqual([200, "you said: hello"]);
}

/** One case: description, body, expected field, and the code if it is not the usual one. */
type Case = readonly [what: string, body: unknown, field: string, code?: unknown];

function namesFields(wire: Wire, usual: unknown, cases: readonly Case[], sentWith: (body: unknown) => Sent = wire.send): void {
  test.each(cases)("%s", async (_what, body, field, code = usual) => {
    const refused = await refusal(wire, sentWith(body));
    expect(refused.code, refused.message).toBe(code);
    expect(refused.message.startsWith(`${field} `), `"${refused.message}" should name ${field}`).toBe(true);
    await expectStillServing(wire);
  });
}

const message = (value: unknown): Tree => ({ agent_name: "conform", input: [value] });
const part = (value: unknown): Tree => message({ role: "user", parts: [value] });
const text = { content_type: "text/plain", content: "hello" };
const INVALID = "422 invalid_input";

describe("BeeAI ACP: an invalid field of a run is named", () => {
  namesFields(ACP_REST, INVALID, [
    ["a body that is a list", [], "body"],
    ["a body that is null", null, "body"],
    ["no agent", { input: [] }, "agent_name"],
    ["an agent that is an object", { agent_name: {}, input: [] }, "agent_name"],
    ["no input", { agent_name: "conform" }, "input"],
    ["an input that is text", { agent_name: "conform", input: "hello" }, "input"],
    [
      "too many messages",
      { agent_name: "conform", input: new Array(257).fill({ role: "user", parts: [text] }) },
      "input",
      "413 invalid_input",
    ],
    ["a message that is null", message(null), "input[0]"],
    ["a second message that is text", { agent_name: "conform", input: [{ role: "user", parts: [text] }, "x"] }, "input[1]"],
    ["a role of another protocol", message({ role: "ROLE_USER", parts: [text] }), "input[0].role"],
    ["a role that is a number", message({ role: 1, parts: [text] }), "input[0].role"],
    ["no parts", message({ role: "user" }), "input[0].parts"],
    ["parts that are an object", message({ role: "user", parts: {} }), "input[0].parts"],
    ["too many parts", message({ role: "user", parts: new Array(257).fill(text) }), "input[0].parts", "413 invalid_input"],
    ["a time that is none", message({ role: "user", parts: [text], created_at: "yesterday" }), "input[0].created_at"],
    ["a part that is null", part(null), "input[0].parts[0]"],
    ["a part that is text", part("hello"), "input[0].parts[0]"],
    ["content that is a number", part({ content: 5 }), "input[0].parts[0].content"],
    ["a content type that is a list", part({ content_type: [], content: "" }), "input[0].parts[0].content_type"],
    ["an encoding that is none", part({ content: "", content_encoding: "rot13" }), "input[0].parts[0].content_encoding"],
    ["bytes that are not base64", part({ content: "%%%", content_encoding: "base64" }), "input[0].parts[0].content"],
    ["an address that is none", part({ content_url: "not a url" }), "input[0].parts[0].content_url"],
    ["two contents", part({ content: "a", content_url: "https://example.com/" }), "input[0].parts[0]"],
    [
      "JSON that is too deep inside a part",
      part({ content_type: "application/json", content: "[".repeat(80) + "]".repeat(80) }),
      "input[0].parts[0].content",
      "413 invalid_input",
    ],
    ["a mode that is none", runBody("hello", { mode: "later" }), "mode"],
    ["a mode that is a number", runBody("hello", { mode: 1 }), "mode"],
    ["a session that is no UUID", runBody("hello", { session_id: "s-1" }), "session_id"],
    ["a session that is an object", runBody("hello", { session_id: {} }), "session_id"],
    ["a descriptor that is text", runBody("hello", { session: "s" }), "session"],
    ["a descriptor without an id", runBody("hello", { session: { history: [] } }), "session.id"],
    ["a history that is text", runBody("hello", { session: { id: SESSION, history: "x" } }), "session.history"],
  ]);

  test("in the error data too", async () => {
    const { body } = await refusal(ACP_REST, ACP_REST.send(runBody("hello", { mode: "later" })));
    expect(at(body, "data")).toMatchObject({ code: "invalid_message", field: "mode" });
  });

  test("an unreadable envelope header", async () => {
    for (const value of ["%%%", Buffer.from("[]").toString("base64url"), "e".repeat(4_097)]) {
      const refused = await refusal(ACP_REST, ACP_REST.send(runBody("hello")), { "koine-envelope": value });
      expect([value.slice(0, 8), refused.code]).toEqual([value.slice(0, 8), expect.stringMatching(/^4\d\d invalid_input$/)]);
      expect(refused.message).toContain("koine-envelope");
    }
    await expectStillServing(ACP_REST);
  });

  test("unknown agents, and unknown or invalid ids", async () => {
    const asked: readonly (readonly [Sent, string])[] = [
      [ACP_REST.send({ ...runBody("hello"), agent_name: "nobody" }), "404 not_found"],
      [{ method: "GET", path: "/agents/nobody", headers: {}, body: undefined }, "404 not_found"],
      [{ method: "GET", path: `/runs/${UNKNOWN_RUN}`, headers: {}, body: undefined }, "404 not_found"],
      [{ method: "GET", path: `/sessions/${UNKNOWN_RUN}`, headers: {}, body: undefined }, "404 not_found"],
      [{ method: "GET", path: `/resources/${UNKNOWN_RUN}.0`, headers: {}, body: undefined }, "404 not_found"],
      [{ method: "GET", path: "/runs/r-1", headers: {}, body: undefined }, INVALID],
      [{ method: "GET", path: "/agents/%zz", headers: {}, body: undefined }, INVALID],
      [{ method: "GET", path: "/agents?limit=0", headers: {}, body: undefined }, INVALID],
      [{ method: "GET", path: "/agents?offset=x", headers: {}, body: undefined }, INVALID],
      [{ method: "GET", path: "/runs", headers: {}, body: undefined }, "405 server_error"],
      [{ method: "PUT", path: "/ping", headers: {}, body: undefined }, "405 server_error"],
      [{ method: "GET", path: "/runs/a/b/c", headers: {}, body: undefined }, "404 not_found"],
    ];
    for (const [sent, code] of asked) expect([sent.path, (await refusal(ACP_REST, sent)).code]).toEqual([sent.path, code]);
  });
});

describe("BeeAI ACP: an invalid field of a resume is named, and the run keeps waiting", () => {
  let waiting = "";
  beforeAll(async () => {
    waiting = ACP_REST.taskId((await ask(server.url, ACP_REST.send(runBody("conform: ask")))).body);
  });
  const resume = (value: unknown): Tree => ({ ...resumeBody("42"), await_resume: value });
  namesFields(
    ACP_REST,
    INVALID,
    [
      ["a body that is a list", [], "body"],
      ["nothing to resume with", { mode: "sync" }, "await_resume"],
      ["a resume that is text", resume("42"), "await_resume"],
      ["a kind that is none", resume({ type: "vote" }), "await_resume.type"],
      ["no message", resume({ type: "message" }), "await_resume.message"],
      ["no parts", resume({ type: "message", message: { role: "user" } }), "await_resume.message.parts"],
      ["no mode", { ...resumeBody("42"), mode: undefined }, "mode"],
      ["a mode that is none", resumeBody("42", "later"), "mode"],
    ],
    (body) => ({ ...ACP_REST.send({}), path: `/runs/${waiting}`, body: JSON.stringify(body) }),
  );

  test("a valid resume is accepted afterwards, and no second one", async () => {
    const sent = ACP_REST.answerTask(waiting, "42");
    const { status, body } = await ask(server.url, sent);
    expect([status, at(body, "status"), ACP_REST.text(body)]).toEqual([200, "completed", "the answer was: 42"]);
    expect((await refusal(ACP_REST, sent)).code).toBe("403 server_error");
  });
});

describe("BeeAI ACP: a reader that leaves a stream", () => {
  test("does not stop the run", async () => {
    const { method, path, headers, body } = ACP_REST.stream(runBody("conform: wait"));
    const leaving = new AbortController();
    const response = await fetch(server.url + path, { method, headers, body: String(body), signal: leaving.signal });
    const id = response.headers.get("run-id") ?? "";
    await response.body?.getReader().read();
    leaving.abort();
    const run = await ask(server.url, ACP_REST.getTask(id));
    expect([run.status, at(run.body, "status")]).toEqual([200, "in-progress"]);
    expect((await ask(server.url, ACP_REST.cancelTask(id))).status).toBe(202);
  });
});

describe("plain /acp/message: an invalid field is named", () => {
  const valid = { payload: { text: "hello" } };
  namesFields(ACP_PLAIN, "422 E_PROTOCOL", [
    ["a body that is a list", [], "body"],
    ["a body that is null", null, "body"],
    ["nothing that is said", { id: "p-1", sender: "tester" }, "payload"],
    ["an empty payload", { payload: {} }, "payload"],
    ["a payload that is a number", { payload: 5 }, "payload"],
    ["a text that is a number", { text: 5 }, "text"],
    ["an id that is an object", { ...valid, id: {} }, "id"],
    ["a type that is none", { ...valid, type: "shout" }, "type"],
    ["an unrequested answer", { ...valid, type: "response" }, "type"],
    ["a sender that is a list", { ...valid, sender: [] }, "sender"],
    ["a receiver that is a number", { ...valid, receiver: 5 }, "receiver"],
    ["a correlation id that is a number", { ...valid, correlation_id: 5 }, "correlation_id"],
    ["a time that is text", { ...valid, timestamp: "now" }, "timestamp"],
    ["a session that is a number", { ...valid, session_id: 5 }, "session_id"],
    ["metadata that are text", { ...valid, metadata: "x" }, "metadata"],
    ["a key that is a number", { ...valid, metadata: { idempotency_key: 5 } }, "metadata.idempotency_key"],
    ["a trace that is an object", { ...valid, metadata: { trace_id: {} } }, "metadata.trace_id"],
    ["a switch that is text", { ...valid, stream: "yes" }, "stream"],
    ["messages that are text", { messages: "hello" }, "messages"],
    ["a message that is a list", { message: [] }, "message"],
    ["a context that is text", { ...valid, context: "c" }, "context"],
  ]);

  test("with the id of the message", async () => {
    const { body } = await refusal(ACP_PLAIN, ACP_PLAIN.send({ ...valid, type: "shout", correlation_id: "c-7" }));
    expect(body).toMatchObject({ correlation_id: "c-7", error: { reason: "invalid_message", field: "type" } });
  });

  test("an unknown receiver, an unknown run, an unsupported method", async () => {
    const get = (path: string): Sent => ({ method: "GET", path, headers: {}, body: undefined });
    expect((await refusal(ACP_PLAIN, ACP_PLAIN.send({ ...valid, receiver: "nobody" }))).code).toMatch(/^404 E_/);
    expect((await refusal(ACP_PLAIN, get(`/acp/status?run_id=${UNKNOWN_RUN}`))).code).toMatch(/^404 E_/);
    expect((await refusal(ACP_PLAIN, get("/acp/message"))).code).toMatch(/^405 E_/);
  });
});

describe("Agora: an invalid field is named", () => {
  const cases: readonly Case[] = [
    ["a hash that is a number", agoraBody("hello", { protocolHash: 5 }), "protocolHash"],
    ["a hash that is an object", agoraBody("hello", { protocolHash: {} }), "protocolHash"],
    ["sources that are text", agoraBody("hello", { protocolHash: "x", protocolSources: "y" }), "protocolSources"],
    ["a source that is a number", agoraBody("hello", { protocolHash: "x", protocolSources: [1] }), "protocolSources[0]"],
    ["no body", { protocolHash: null }, "body"],
    ["a body that is an object", { protocolHash: null, body: {} }, "body"],
    ["a switch that is text", agoraBody("hello", { multiround: "yes" }), "multiround"],
    ["metadata that are text", agoraBody("hello", { metadata: "x" }), "metadata"],
    ["an id that is a number", agoraBody("hello", { metadata: { request_id: 5 } }), "metadata.request_id"],
    ["a key that is a list", agoraBody("hello", { metadata: { idempotency_key: [] } }), "metadata.idempotency_key"],
    ["a trace beside the body that is a number", agoraBody("hello", { trace_id: 5 }), "trace_id"],
    ["a receipt that is text", agoraBody("hello", { metadata: { koine: 1, receipt: "r" } }), "metadata.receipt"],
    ["a receipt without an id", agoraBody("hello", { metadata: { koine: 1, receipt: {} } }), "metadata.receipt.id"],
    ["an envelope that is none", agoraBody("hello", { metadata: { koine: 1, envelope: { ts: "x" } } }), "metadata.envelope"],
    ["parameters that are text", { protocolHash: null, message: "hello", parameters: "x" }, "parameters"],
    ["a message that is a number", { protocolHash: null, message: 5 }, "message"],
  ];
  describe("at /agora", () => namesFields(AGORA, 400, cases));
  describe("at /", () => namesFields(AGORA, 400, cases, (body) => postAgora("/", body)));
  describe("in a conversation", () => {
    let path = "";
    beforeAll(async () => {
      const opened = await ask(server.url, postAgora("/", agoraBody("hello", { multiround: true })));
      path = `/conversations/${at(opened.body, "conversationId")}`;
    });
    // Sources are not read again once a conversation has begun.
    const further = cases.filter(([, , field]) => !field.startsWith("protocolSources"));
    namesFields(AGORA, 400, further, (body) => postAgora(path, body));

    test("another document than the one the conversation began with", async () => {
      const refused = await refusal(AGORA, postAgora(path, agoraBody("hello", { protocolHash: "x" })));
      expect([refused.code, refused.message.startsWith("protocolHash ")]).toEqual([409, true]);
    });
  });

  test.each(["[]", '"x"', "null", "17"])("at /agora: a body that is %s", async (body) => {
    expect((await refusal(AGORA, { ...postAgora("/agora", {}), body })).code).toBe(400);
    await expectStillServing(AGORA);
  });

  test("JSON that is nested too deep, inside the body of a document that requires JSON", async () => {
    const weather = await startAgora();
    try {
      const protocolHash = createHash("sha1").update(TEMPERATURE).digest("base64");
      const asked = (body: string) => ask(weather.url, postAgora("/", agoraBody(body, { protocolHash })));
      const deep = await asked("[".repeat(80) + "]".repeat(80));
      expect(AGORA.refused(deep.status, deep.body)).toEqual({ code: 413, message: expect.stringMatching(/^body .*deep/) });
      expect(AGORA.text((await asked('{"city":"Rome"}')).body)).toBe('{"temperature":21}');
    } finally {
      await weather.close();
    }
  });

  test("an unknown conversation, an unknown agent, an unsupported method", async () => {
    expect(await refusal(AGORA, postAgora(`/conversations/${UNKNOWN_RUN}`, agoraBody("hello")))).toMatchObject({
      code: 404,
      message: "Conversation not found.",
    });
    expect((await refusal(AGORA, postAgora("/agora/nobody", agoraBody("hello")))).code).toBe(404);
    expect((await refusal(AGORA, { method: "PUT", path: "/agora/.well-known/agora", headers: {}, body: undefined })).code).toBe(
      405,
    );
  });
});
