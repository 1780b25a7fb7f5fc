import { describe, expect, it } from "vitest";
import { agent } from "../../src/server/index.js";
import { manualTimers } from "../helpers/tasks.js";
import { TestHost, words } from "./test-host.js";

const NOT_FOUND = { status: "error", message: "Conversation not found.", body: "Conversation not found." };
const WORDS = "Send any text; it comes back in capitals.";
const WORDS_HASH = "DySKuXJDbdzFmhz8ZZjjzhLEfVI=";

const greeter = agent({
  name: "talker",
  description: "asks before it books",
  async handle({ text }, task) {
    if (text === "book") return task.ask("For how many?");
    if (text === "fail") return task.fail("no table left");
    if (text === "reject") return task.reject("not here");
    if (text === "throw") throw new Error("inner secret");
    if (task.turn > 1) return `booked for ${text}`;
    return `session ${task.sessionId}: ${text}`;
  },
  skills: [
    {
      id: "shout",
      name: "Shout",
      description: "d",
      tags: [],
      inputModes: ["text/plain"],
      document: WORDS,
      handle: async ({ text }) => text.toUpperCase(),
    },
  ],
});

const open = (body: string, more = {}) => words(body, { multiround: true, ...more });

async function opened(host: TestHost, body = "hi", headers = {}): Promise<string> {
  const { json, status } = await host.post("/", open(body), headers);
  expect(status).toBe(200);
  return String(json["conversationId"]);
}

describe("a conversation", () => {
  it("is opened, continued, deleted, deleted again, and then not found", async () => {
    const host = new TestHost([greeter]);
    const first = await host.post("/", open("one"));
    const id = String(first.json["conversationId"]);
    expect(first.json).toEqual({ status: "success", conversationId: id, body: `session ${id}: one` });
    const further = await host.post(`/conversations/${id}`, open("two"));
    expect(further.json).toEqual({ status: "success", body: `session ${id}: two` });
    expect((await host.post(`/agora/conversations/${id}`, { body: "three" })).json).toMatchObject({
      body: `session ${id}: three`,
    });
    for (const _time of ["once", "twice"])
      expect(await host.delete(`/conversations/${id}`)).toMatchObject({ status: 200, text: '{"status":"success"}' });
    expect(await host.post(`/conversations/${id}`, open("four"))).toMatchObject({ status: 404, json: NOT_FOUND });
  });

  it("that is unknown is deleted with success", async () => {
    expect((await new TestHost([greeter]).delete("/conversations/7f0c1c1e-0000-4000-8000-000000000000")).json).toEqual({
      status: "success",
    });
  });

  it("ends a fixed time after its start, as in the library", async () => {
    const host = new TestHost([greeter]);
    const id = await opened(host);
    host.timers.advance(299_999);
    expect((await host.post(`/conversations/${id}`, open("x"))).status).toBe(200);
    host.timers.advance(1);
    expect(await host.post(`/conversations/${id}`, open("x"))).toMatchObject({ status: 404, json: NOT_FOUND });
  });

  it("ends a fixed time after its last use, by setting", async () => {
    const host = new TestHost([greeter], { settings: { conversationIdle: true, conversationMs: 1_000 } });
    const id = await opened(host);
    for (const _time of [1, 2, 3]) {
      host.timers.advance(900);
      expect((await host.post(`/conversations/${id}`, open("x"))).status).toBe(200);
    }
    host.timers.advance(1_000);
    expect((await host.post(`/conversations/${id}`, open("x"))).status).toBe(404);
  });

  it("reports its end to a Koine client by error code", async () => {
    const { json } = await new TestHost([greeter]).post("/conversations/x", open("x", { metadata: { koine: 1 } }));
    expect(json).toEqual({ ...NOT_FOUND, metadata: { koine: 1, code: "session_expired" } });
  });

  it("belongs to its caller", async () => {
    const host = new TestHost([greeter]);
    const alice = { "x-caller": "alice" };
    const bob = { "x-caller": "bob" };
    const id = await opened(host, "hi", alice);
    expect(await host.post(`/conversations/${id}`, open("x"), bob)).toMatchObject({ status: 404, json: NOT_FOUND });
    expect((await host.delete(`/conversations/${id}`, bob)).json).toEqual({ status: "success" });
    expect((await host.post(`/conversations/${id}`, open("x"), alice)).status).toBe(200);
  });

  it("belongs to its agent", async () => {
    const host = new TestHost([greeter, agent({ name: "other", description: "d", handle: async () => "other" })]);
    const id = await opened(host);
    expect((await host.post(`/agora/other/conversations/${id}`, open("x"))).status).toBe(404);
    expect((await host.post(`/agora/talker/conversations/${id}`, open("x"))).status).toBe(200);
  });

  it("keeps the document of its first message", async () => {
    const host = new TestHost([greeter]);
    const id = await opened(host);
    const switched = await host.post(`/conversations/${id}`, open("x", { protocolHash: WORDS_HASH }));
    expect(switched).toMatchObject({ status: 409, json: { status: "error" } });
    const shouting = String((await host.post("/", open("x", { protocolHash: WORDS_HASH }))).json["conversationId"]);
    expect((await host.post(`/conversations/${shouting}`, { body: "loud" })).json).toMatchObject({ body: "LOUD" });
    expect((await host.post(`/conversations/${shouting}`, open("x"))).status).toBe(409);
  });

  it("is limited per caller", async () => {
    const host = new TestHost([greeter], { settings: { maxConversations: 2 } });
    const ids = [await opened(host), await opened(host)];
    expect(await host.post("/", open("x"))).toMatchObject({ status: 429, json: { status: "error" } });
    await opened(host, "hi", { "x-caller": "bob" });
    await host.delete(`/conversations/${ids[0]}`);
    await opened(host);
    host.timers.advance(300_000);
    await opened(host);
  });

  it("is ended for a new one of its caller if it is the oldest and nothing waits in it", async () => {
    const host = new TestHost([greeter], { settings: { maxConversations: 2 } });
    const asking = String((await host.post("/", open("book"))).json["conversationId"]);
    const idle = await opened(host);
    expect((await host.post("/", open("x"))).status).toBe(429); // Its first message may be under way.
    host.timers.advance(1_000);
    const next = await opened(host);
    expect((await host.post(`/conversations/${idle}`, open("x"))).status).toBe(404);
    expect((await host.post(`/conversations/${asking}`, open("4"))).json).toMatchObject({ body: "booked for 4" });
    expect((await host.post(`/conversations/${next}`, open("x"))).status).toBe(200);
  });

  it("survives a restart", async () => {
    const timers = manualTimers();
    const before = new TestHost([greeter], { timers });
    const requests = await before.post("/", open("book"));
    const id = String(requests.json["conversationId"]);
    const after = new TestHost([greeter], { timers, store: before.runtime.store, prefix: "after" });
    expect((await after.post(`/conversations/${id}`, open("4"))).json).toEqual({ status: "success", body: "booked for 4" });
    expect((await after.delete(`/conversations/${id}`)).status).toBe(200);
    expect((await before.post(`/conversations/${id}`, open("x"))).status).toBe(404);
  });

  it("does not remain after a first message that fails", async () => {
    const host = new TestHost([greeter], { settings: { maxConversations: 1 } });
    expect((await host.post("/", open("fail"))).json).not.toHaveProperty("conversationId");
    await opened(host);
  });

  it("is not restored by a message that was in flight when it was deleted", async () => {
    const host = new TestHost([greeter]);
    const id = await opened(host);
    const asking = host.post(`/conversations/${id}`, open("book"));
    await host.delete(`/conversations/${id}`);
    await asking;
    expect((await host.post(`/conversations/${id}`, open("x"))).status).toBe(404);
  });
});

describe("a question", () => {
  it("is the body of a reply, and the next message is its answer", async () => {
    const host = new TestHost([greeter]);
    const first = await host.post("/", open("book"));
    expect(first.json).toMatchObject({ status: "success", body: "For how many?" });
    const id = String(first.json["conversationId"]);
    expect((await host.post(`/conversations/${id}`, open("4"))).json).toEqual({ status: "success", body: "booked for 4" });
    expect((await host.post(`/conversations/${id}`, open("5"))).json).toEqual({ status: "success", body: `session ${id}: 5` });
  });

  it("that is no longer open is reported as closed, and the next message starts a new task", async () => {
    const host = new TestHost([greeter]);
    const first = await host.post("/", open("book", { metadata: { koine: 1 } }));
    const id = String(first.json["conversationId"]);
    const { receipt } = first.json["metadata"] as { readonly receipt: { readonly id: string; readonly state: string } };
    expect(receipt.state).toBe("input-required");
    await host.post("/", words("", { metadata: { koine: 1, cancel: receipt.id } }));
    expect((await host.post(`/conversations/${id}`, open("4"))).status).toBe(409);
    expect((await host.post(`/conversations/${id}`, open("5"))).json).toMatchObject({ body: `session ${id}: 5` });
  });
});

describe("a failing task", () => {
  it.each([
    ["fail", 500, "no table left"],
    ["reject", 422, "not here"],
    ["throw", 500, "the agent failed unexpectedly"],
  ])("%s is an error reply, alone and in a conversation", async (body, status, message) => {
    const host = new TestHost([greeter]);
    const expected = { status, json: { status: "error", message, body: message } };
    expect(await host.post("/", words(body))).toMatchObject(expected);
    const id = await opened(host);
    expect(await host.post(`/conversations/${id}`, open(body))).toMatchObject(expected);
    expect((await host.post(`/conversations/${id}`, open("x"))).status).toBe(200);
  });
});

describe("one key", () => {
  it("is one task, in the conversation it was first sent in", async () => {
    let runs = 0;
    const counting = agent({ name: "counting", description: "d", handle: async () => `run ${++runs}` });
    const host = new TestHost([counting]);
    const keyed = open("x", { metadata: { idempotency_key: "k-1" } });
    const first = await host.post("/", keyed);
    expect(await host.post("/", keyed)).toEqual(first);
    expect((await host.post("/", open("x"), { "idempotency-key": "k-1" })).json).toEqual(first.json);
    expect((await host.post(`/conversations/${first.json["conversationId"]}`, open("y"))).json).toMatchObject({ body: "run 2" });
    expect(await host.post("/", open("z"), { "idempotency-key": "k-1" })).toMatchObject({ status: 409 });
    expect(runs).toBe(2);
  });

  it("is one task without a conversation too, and header and member must agree", async () => {
    let runs = 0;
    const counting = agent({ name: "counting", description: "d", handle: async () => `run ${++runs}` });
    const host = new TestHost([counting]);
    for (const _time of ["once", "twice"])
      expect((await host.post("/", words("x", { idempotency_key: "k" }))).json).toEqual({ status: "success", body: "run 1" });
    expect((await host.post("/", words("x", { idempotency_key: "k" }), { "idempotency-key": "l" })).status).toBe(400);
  });
});
