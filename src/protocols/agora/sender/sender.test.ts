import { describe, expect, it } from "vitest";
import {
  AgentError,
  type AgentEvent,
  CancelSource,
  type Card,
  type Content,
  type EnvelopeStart,
  type Json,
  type JsonObject,
  type Maybe,
  newEnvelope,
  type OperationOf,
  startCall,
  textPart,
} from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";
import { createMemoryStore } from "../../../tasks/index.js";
import type { HttpResponse, Link } from "../../../transport/exchange.js";
import { createClientContext } from "../../client-context.js";
import { unknownCard } from "../../discovery.js";
import { connectWith } from "../client.js";
import type { SenderOptions, SenderRoutine } from "./options.js";

const TASK = { id: "temperature", description: "Tell the temperature of a city." };
const DOCUMENT = "---\nname: Temperature\nmultiround: false\n---\nSend a city.";
/** Computed by the library. */
const HASH = "jein5VUykvj2Qn2YV0phhvwteLI=";
const ids = { now: () => 0, newId: () => crypto.randomUUID() };

interface Peer {
  readonly card?: Card;
  reply?(body: JsonObject): JsonObject | HttpResponse;
}

/** A scripted peer, and one sender that repeats a task. */
function sending(
  options: Partial<SenderOptions>,
  { card = unknownCard("http://peer.example", { streaming: false }), reply }: Peer = {},
) {
  const received: JsonObject[] = [];
  const link: Link = {
    async exchange(request) {
      if (request.method === "DELETE") return json({ status: "success" });
      const body = request.json() as JsonObject; // our own client wrote it
      received.push(body);
      const given = reply?.(body) ?? { status: "success", body: `got ${String(body["body"])}`, conversationId: "c" };
      return "headers" in given ? (given as HttpResponse) : json(given); // only responses have headers
    },
    close: async () => undefined,
  };
  const peer = { url: "http://peer.example", card, version: "0.2", binding: "HTTP" };
  const { records } = createMemoryStore({ now: ids.now });
  const context = createClientContext({ link, ids, records: () => records });
  const { handler } = connectWith({ sender: { tasks: [TASK], ...options } })({ ...context, peer });
  async function send(
    start: Pick<EnvelopeStart, "content" | "intent" | "context">,
    cancel = new CancelSource(),
  ): Promise<AgentEvent> {
    const envelope = newEnvelope({ src: "me", dst: "it", ...start }, ids);
    const operation: OperationOf<"send"> = { kind: "send", envelope, delivery: "answer", task: "auto" };
    return (await handler(operation, startCall({ cancel }))) as AgentEvent; // one answer
  }
  async function task(content: Content = { city: "Bern" }, cancel = new CancelSource()): Promise<Json> {
    const event = await send({ content, intent: TASK.id, context: {} }, cancel);
    const [part] = event.kind === "message" ? event.message.content : [];
    return part?.kind === "data" ? part.data : part?.kind === "text" ? part.text : null;
  }
  const hashes = (): readonly Json[] => received.map((body) => (body["protocolHash"] as Json) ?? "words");
  return { task, send, heard: received, hashes };
}

function json(body: JsonObject): HttpResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

function routine(more: Partial<SenderRoutine> = {}): SenderRoutine {
  return { task: TASK.id, document: DOCUMENT, send: async (data, ask) => ({ made: await ask(JSON.stringify(data)) }), ...more };
}

function listing(document: string, id = "temperature"): Card {
  return {
    ...unknownCard("http://peer.example", { streaming: false }),
    skills: [{ id, name: id, description: "", tags: [], document }],
  };
}

async function times(count: number, task: () => Promise<Json>): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (let index = 0; index < count; index++) all.push(await task());
  return all;
}

const accepting = (body: JsonObject): JsonObject =>
  body["protocolHash"] === "negotiation"
    ? { status: "success", body: JSON.stringify({ accept: HASH }), conversationId: "n" }
    : { status: "success", body: "21", conversationId: "c" };

describe("a sender without a model", () => {
  it("sends the description of the task with the data, and text unchanged", async () => {
    const { task, heard: received } = sending({});
    await task();
    await task("How warm is it?");
    expect(received.map(({ body }) => body)).toEqual(['Tell the temperature of a city.\n{"city":"Bern"}', "How warm is it?"]);
  });

  it("picks a common document from the sixth task on, and uses the routine at once", async () => {
    const { task, hashes } = sending({ routines: [routine()] }, { card: listing(DOCUMENT) });
    const answers = await times(7, task);
    expect(hashes()).toEqual(["words", "words", "words", "words", "words", HASH, HASH]);
    expect(answers.slice(5)).toEqual([{ made: 'got {"city":"Bern"}' }, { made: 'got {"city":"Bern"}' }]);
  });

  it("picks no document without a routine, and none of another task", async () => {
    const elsewhere = routine({ task: "another" });
    const { task, hashes } = sending({ routines: [elsewhere], thresholds: { negotiation: 99 } }, { card: listing(DOCUMENT) });
    await times(8, task);
    expect(new Set(hashes())).toEqual(new Set(["words"]));
  });

  it("negotiates by catalogue from the eleventh task on", async () => {
    const { task, hashes } = sending({ routines: [routine()] }, { reply: accepting });
    await times(12, task);
    expect(hashes().slice(9)).toEqual(["words", "negotiation", HASH, HASH]);
  });

  it("accepts a counter-proposal only if it has a routine for it", async () => {
    const other = "---\nname: Other\n---\nAlso good.";
    const counter = (body: JsonObject): JsonObject =>
      body["protocolHash"] === "negotiation"
        ? {
            status: "success",
            body: JSON.stringify({ reject: "2jmj7l5rSw0yVb/vlWAYkK/YBwk=", counter: { hash: HASH, document: DOCUMENT } }),
            conversationId: "n",
          }
        : { status: "success", body: "21" };
    const both = sending(
      { routines: [routine({ document: other }), routine()], thresholds: { negotiation: 0 } },
      { reply: counter },
    );
    await both.task();
    expect(both.hashes()).toEqual(["negotiation", HASH]);
    const one = sending({ routines: [routine({ document: other })], thresholds: { negotiation: 0 } }, { reply: counter });
    await one.task();
    expect(one.hashes()).toEqual(["negotiation", "words"]);
  });

  it("ignores the acceptance of a document it did not offer, and prose", async () => {
    for (const body of [JSON.stringify({ accept: "2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }), "I accept everything!"]) {
      const reply = (requests: JsonObject): JsonObject => ({
        status: "success",
        body: requests["protocolHash"] === "negotiation" ? body : "21",
        conversationId: "c",
      });
      const { task, hashes } = sending({ routines: [routine()], thresholds: { negotiation: 0 } }, { reply });
      await task();
      expect(hashes()).toEqual(["negotiation", "words"]);
    }
  });

  it("falls back to natural language if negotiation fails or the document is rejected", async () => {
    const refusing = (body: JsonObject): JsonObject => {
      if (body["protocolHash"] === "negotiation") return { status: "error", message: "what?" };
      return { status: "success", body: "21", conversationId: "c" };
    };
    const deaf = sending({ routines: [routine()], thresholds: { negotiation: 0 } }, { reply: refusing });
    await expect(deaf.task()).resolves.toBe("21");
    const rejecting = (body: JsonObject): JsonObject =>
      body["protocolHash"] === HASH ? { status: "rejected" } : accepting(body);
    const fickle = sending({ routines: [routine()], thresholds: { negotiation: 0 } }, { reply: rejecting });
    await expect(times(2, fickle.task)).resolves.toEqual(["21", "21"]);
    expect(fickle.hashes()).toEqual(["negotiation", HASH, "words", "words"]);
  });

  it("fails with the routine, and sends nothing twice", async () => {
    const broken = routine({
      async send(data, ask) {
        await ask(JSON.stringify(data));
        throw new TypeError("a bug");
      },
    });
    const { task, hashes } = sending({ routines: [broken], thresholds: { protocol: 0 } }, { card: listing(DOCUMENT) });
    await expect(task()).rejects.toMatchObject({ code: "internal" });
    expect(hashes()).toEqual([HASH]);
  });

  it("rejects a routine that sends nothing, and a second message without a conversation", async () => {
    const idle = sending(
      { routines: [routine({ send: () => "made up" })], thresholds: { protocol: 0 } },
      { card: listing(DOCUMENT) },
    );
    await expect(idle.task()).rejects.toMatchObject({ code: "internal" });
    const chatty = routine({ send: async (_data, ask) => `${await ask("one")} ${await ask("two")}` });
    const single = sending({ routines: [chatty], thresholds: { protocol: 0 } }, { card: listing(DOCUMENT) });
    await expect(single.task()).rejects.toMatchObject({ code: "unsupported" });
  });

  it("stores counters and agreements in the given records", async () => {
    const kept = new Map<string, JsonObject>();
    const records: NonNullable<SenderOptions["records"]> = {
      get: async (key) => kept.get(key),
      put: async (key, value) => void kept.set(key, value),
      delete: async (key) => kept.delete(key),
      async count(key) {
        const before: Maybe<Json> = kept.get(key)?.["count"];
        kept.set(key, { count: Number(before ?? 0) + 1 });
        return Number(before ?? 0) + 1;
      },
    };
    const options = { routines: [routine()], records, thresholds: { negotiation: 1 } };
    await times(2, sending(options, { reply: accepting }).task);
    const restarted = sending(options, { reply: accepting });
    await restarted.task();
    expect(restarted.hashes()).toEqual([HASH]);
  });

  it("does not handle sessions, answers to questions, files and other intents", async () => {
    const { send, heard: received } = sending({});
    await send({ content: "hi", intent: "other", context: {} });
    await send({ content: { a: 1 }, intent: TASK.id, context: { sessionId: "s" } });
    await send({ content: { a: 1 }, intent: TASK.id, context: { taskId: "t" } });
    await send({ content: [textPart("look"), { kind: "url", url: "https://files.example/x" }], intent: TASK.id, context: {} });
    expect(received.map(({ body }) => body)).toEqual(["hi", '{"a":1}', '{"a":1}', "look\nhttps://files.example/x"]);
    expect(received.map(({ multiround }) => multiround === true)).toEqual([false, true, false, false]);
  });
});

describe("a sender with a model", () => {
  const model: LanguageModel = {
    complete: async ({ system }) => (system?.includes("document") === true ? "by model" : "in words"),
  };

  it("follows a document with the model until its routine takes over at the sixth use", async () => {
    const { task, heard: received } = sending(
      { model, routines: [routine()], thresholds: { protocol: 0 } },
      { card: listing(DOCUMENT) },
    );
    await times(7, task);
    expect(received.map(({ body }) => body)).toEqual([
      ...Array<string>(5).fill("by model"),
      '{"city":"Bern"}',
      '{"city":"Bern"}',
    ]);
  });

  it("falls back to the model if a routine fails before sending", async () => {
    const clumsy = routine({ send: () => Promise.reject(new TypeError("a bug")) });
    const thresholds = { protocol: 0, implementation: 0 };
    const { task, heard: received } = sending({ model, routines: [clumsy], thresholds }, { card: listing(DOCUMENT) });
    await expect(task()).resolves.toBe("got by model");
    expect(received).toHaveLength(1);
  });

  it("picks a listed document by the task's name even without a routine", async () => {
    const { task, hashes } = sending({ model, thresholds: { protocol: 0 } }, { card: listing(DOCUMENT, "some-skill") });
    await task();
    expect(hashes()).toEqual([HASH]);
  });

  it("does not fall back once the peer has received a message", async () => {
    const broken = routine({
      async send(data, ask) {
        await ask(JSON.stringify(data));
        throw new TypeError("a bug");
      },
    });
    const thresholds = { protocol: 0, implementation: 0 };
    const { task, heard: received } = sending({ model, routines: [broken], thresholds }, { card: listing(DOCUMENT) });
    await expect(task()).rejects.toMatchObject({ code: "internal" });
    expect(received).toHaveLength(1);
  });

  it("is cancelled with its call during a negotiation", async () => {
    const cancel = new CancelSource();
    let requests = 0;
    const stopping: LanguageModel = {
      async complete() {
        if (++requests > 1) return "in words";
        cancel.cancel(new AgentError("cancelled", "enough"));
        throw cancel.reason;
      },
    };
    const { task, heard: received } = sending({ model: stopping, thresholds: { negotiation: 0 } });
    await expect(task({ city: "Bern" }, cancel)).rejects.toMatchObject({ message: "enough" });
    expect([requests, received.length]).toEqual([1, 0]);
  });
});
