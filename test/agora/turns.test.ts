import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/envelope/index.js";
import type { LanguageModel } from "../../src/router/models/index.js";
import { agent } from "../../src/server/index.js";
import { manualTimers } from "../helpers/tasks.js";
import { gate, TestHost, words } from "./test-host.js";

const open = (body: string, more: JsonObject = {}) => words(body, { multiround: true, ...more });
const echoing = agent({ name: "told", description: "d", handle: async ({ text }, task) => `${task.sessionId}: ${text}` });

/** A model that counts its calls, and waits for a gate if there is one. */
function counting(waits?: Promise<void>): LanguageModel & { readonly requests: readonly number[] } {
  const requests: number[] = [];
  return {
    requests,
    async complete({ messages }) {
      const answer = `answer ${requests.push(messages.length)}`;
      await waits;
      return answer;
    },
  };
}

describe("the session of a conversation", () => {
  it("is that of its caller, in every message, and when it ends", async () => {
    const host = new TestHost([echoing]);
    const first = await host.post("/", open("one", { metadata: { session: "mine" } }));
    expect(first.json).toMatchObject({ body: "mine: one" });
    const path = `/conversations/${first.json["conversationId"]}`;
    expect((await host.post(path, open("two"))).json).toMatchObject({ body: "mine: two" });
    expect(host.losses.filter(({ path: lost }) => lost.startsWith("message"))).toEqual([]);
    expect((await host.post(path, open("three", { metadata: { session: "other" } }))).json).toMatchObject({
      body: "mine: three",
    });
    expect(host.losses.map(({ path: lost }) => lost)).toContain("message.context.sessionId");
  });
});

describe("two messages of one conversation at once", () => {
  it("are answered one after the other, and no model state is lost", async () => {
    const waits = gate();
    const model = counting(waits.opened);
    const host = new TestHost([echoing], { settings: { naturalLanguage: "model" }, agora: { model } });
    waits.open();
    const id = (await host.post("/", open("one"))).json["conversationId"];
    await Promise.all(["two", "three", "four"].map((text) => host.post(`/conversations/${id}`, open(text))));
    // Each sees the complete history: its own message, and two turns for every earlier one.
    expect(model.requests).toEqual([1, 3, 5, 7]);
  });

  it("wait in a bounded queue", async () => {
    const waits = gate();
    const slow = agent({
      name: "slow",
      description: "d",
      handle: async ({ text }) => (text === "hi" ? "hi" : waits.opened.then(() => "done")),
    });
    const host = new TestHost([slow]);
    const id = (await host.post("/", open("hi"))).json["conversationId"];
    const all = Array.from({ length: 17 }, () => host.post(`/conversations/${id}`, open("wait")));
    const refused = await (all.at(-1) as Promise<unknown>);
    expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "1" }, json: { status: "error" } });
    waits.open();
    expect((await Promise.all(all.slice(0, -1))).map(({ status }) => status)).toEqual(Array(16).fill(200));
  });

  it("are not both answered by two replicas", async () => {
    const waits = gate();
    const begun = gate();
    const slow = agent({
      name: "slow",
      description: "d",
      async handle({ text }) {
        if (text === "hi") return "hi";
        begun.open();
        await waits.opened;
        return "done";
      },
    });
    const timers = manualTimers();
    const one = new TestHost([slow], { timers });
    const other = new TestHost([slow], { timers, store: one.runtime.store, prefix: "other" });
    const id = (await one.post("/", open("hi"))).json["conversationId"];
    const first = one.post(`/conversations/${id}`, open("wait"));
    await begun.opened;
    expect((await other.post(`/conversations/${id}`, open("wait"))).status).toBe(429);
    waits.open();
    expect((await first).status).toBe(200);
    expect((await other.post(`/conversations/${id}`, open("hi"))).status).toBe(200);
  });
});

describe("conversations opened at once", () => {
  it("never exceed the limit of a caller, and use all of it", async () => {
    const host = new TestHost([echoing], { settings: { maxConversations: 3 } });
    const all = await Promise.all(Array.from({ length: 8 }, () => host.post("/", open("x"))));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    const [first] = all.filter(({ status }) => status === 200);
    await host.delete(`/conversations/${first?.json["conversationId"]}`);
    const more = await Promise.all(Array.from({ length: 3 }, () => host.post("/", open("x"))));
    expect(more.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
  });
});

describe("one key", () => {
  it.each([
    ["natural language", null],
    ["a negotiation", "negotiation"],
  ])("calls the model once, alone and in a conversation: %s", async (_what, protocolHash) => {
    const model = counting();
    const host = new TestHost([echoing], { settings: { naturalLanguage: "model" }, agora: { model } });
    for (const multiround of [false, true]) {
      const keyed = words("x", {
        protocolHash,
        ...(multiround ? { multiround } : {}),
        metadata: { idempotency_key: `k-${multiround}` },
      });
      const [first, second] = await Promise.all([host.post("/", keyed), host.post("/", keyed)]);
      expect(second).toEqual(first);
      expect(await host.post("/", keyed)).toEqual(first);
      expect(await host.post("/", { ...keyed, body: "y" })).toMatchObject({ status: 409 });
    }
    expect(model.requests).toHaveLength(2);
  });

  it("calls the model once in a further message, which stores one turn", async () => {
    const model = counting();
    const host = new TestHost([echoing], { settings: { naturalLanguage: "model" }, agora: { model } });
    const id = (await host.post("/", open("one"))).json["conversationId"];
    const keyed = open("two", { idempotency_key: "k" });
    const first = await host.post(`/conversations/${id}`, keyed);
    expect(await host.post(`/conversations/${id}`, keyed)).toEqual(first);
    await host.post(`/conversations/${id}`, open("three"));
    expect(model.requests).toEqual([1, 3, 5]);
  });

  it("belongs to its caller, and is rejected when empty or too long", async () => {
    const model = counting();
    const host = new TestHost([echoing], { settings: { naturalLanguage: "model" }, agora: { model } });
    const keyed = words("x", { idempotency_key: "k" });
    for (const caller of ["alice", "bob"]) expect((await host.post("/", keyed, { "x-caller": caller })).status).toBe(200);
    expect(model.requests).toHaveLength(2);
    for (const key of ["", "k".repeat(257)])
      expect((await host.post("/", words("x", { idempotency_key: key }))).status).toBe(400);
  });

  it("of an answer is that of the task that received it, also when repeated", async () => {
    let runs = 0;
    const asking = agent({
      name: "asking",
      description: "d",
      async handle({ text }, task) {
        runs++;
        return task.turn === 1 ? task.ask("how many?") : `booked for ${text}`;
      },
    });
    const host = new TestHost([asking]);
    const id = (await host.post("/", open("book"))).json["conversationId"];
    const answer = open("4", { idempotency_key: "k-4" });
    const first = await host.post(`/conversations/${id}`, answer);
    expect(first.json).toEqual({ status: "success", body: "booked for 4" });
    expect(await host.post(`/conversations/${id}`, answer)).toEqual(first);
    expect(runs).toBe(2);
  });
});
