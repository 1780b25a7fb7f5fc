import { describe, expect, test } from "vitest";
import { newEnvelope } from "../../../envelope/index.js";
import { END_OF_STREAM } from "../../../transport/sse-items.js";
import { decodePlainReply, PlainStreamReader } from "./reply.js";
import { encodePlainRequest } from "./request.js";

/** Forms of replies that agents of the seeds write to `POST /message`. */
const ids = { now: () => 1_000, newId: () => "new" };
const asked = newEnvelope({ content: "hello", src: "a", dst: "b", context: { sessionId: "s-1" } }, ids);
const facts = { ids, now: 1_000, newId: ids.newId, src: "b", dst: "a", asked, reportLoss: () => undefined, partsPerMessage: 100 };
const partsOf = (body: unknown) => {
  const event = decodePlainReply(body, facts);
  return event.kind === "message" ? event.message.content : event;
};

describe("a whole reply", () => {
  test.each([
    ["a bare text", ["one"], [{ kind: "text", text: "one" }]],
    ["data.text", [{ type: "x", data: { text: "one" } }], [{ kind: "text", text: "one" }]],
    ["data.content", [{ data: { content: "one" } }], [{ kind: "text", text: "one" }]],
    ["data as text", [{ data: "one" }], [{ kind: "text", text: "one" }]],
    ["content", [{ content: "one" }], [{ kind: "text", text: "one" }]],
    ["no text", [{ score: 3 }], [{ kind: "data", data: { score: 3 } }]],
  ])("%s", (_, events, parts) => {
    expect(partsOf({ events })).toMatchObject(parts);
  });

  test("a message of A2A 0.3, with null for absent members", () => {
    const message = { kind: "message", messageId: "m", role: "agent", parts: [{ kind: "text", text: "one" }], taskId: null };
    expect(partsOf({ events: [message, "two"], error: null })).toMatchObject([{ text: "one" }, { text: "two" }]);
  });

  test("a complete message is returned as it is, several are joined", () => {
    const complete = (text: string) => ({ data: { text, message: { messageId: text, role: "ROLE_AGENT", parts: [{ text }] } } });
    expect(decodePlainReply({ events: [complete("one")] }, facts)).toMatchObject({ message: { id: "one" } });
    expect(partsOf({ events: [complete("one"), complete("two")] })).toMatchObject([{ text: "one" }, { text: "two" }]);
  });

  test("events about a task are its state", () => {
    const status = { kind: "status-update", taskId: "t", contextId: "c", status: { state: "completed" }, final: true };
    const artifact = {
      kind: "artifact-update",
      taskId: "t",
      contextId: "c",
      artifact: { artifactId: "r", parts: [{ kind: "text", text: "done" }] },
    };
    expect(decodePlainReply({ events: [artifact, status] }, facts)).toMatchObject({
      kind: "task",
      task: { id: "t", contextId: "c", status: { state: "completed" }, artifacts: [{ id: "r", parts: [{ text: "done" }] }] },
    });
    const task = { kind: "task", id: "t", contextId: "c", status: { state: "working" } };
    expect(decodePlainReply({ events: [task] }, facts)).toMatchObject({ task: { status: { state: "working" } } });
  });

  test.each([
    ["an error as text", { error: "no room" }, { code: "internal", message: "no room" }],
    ["an error with a reason", { error: { reason: "overloaded", message: "later" } }, { code: "overloaded", message: "later" }],
    ["no events", {}, { code: "bad_peer", message: expect.stringContaining("events") }],
    ["a number", 7, { code: "bad_peer" }],
    ["an event that is a number", { events: [7] }, { code: "bad_peer" }],
  ])("%s is thrown", (_, body, error) => {
    expect(() => decodePlainReply(body, facts)).toThrow(expect.objectContaining(error));
  });
});

describe("a streamed reply", () => {
  test("pieces become one task of this client, which the end completes", () => {
    const reader = new PlainStreamReader(facts);
    const events = [...reader.read("one"), ...reader.read({ data: { text: "two" } }), ...reader.read(END_OF_STREAM)];
    expect(events).toMatchObject([
      { kind: "task", task: { id: "new", contextId: "s-1", status: { state: "working" } } },
      { kind: "artifact", taskId: "new", append: false, artifact: { parts: [{ text: "one" }] } },
      { kind: "artifact", taskId: "new", append: true, artifact: { parts: [{ text: "two" }] } },
      { kind: "status", taskId: "new", status: { state: "completed" } },
    ]);
  });

  test("a task of the peer ends by the peer's own event", () => {
    const reader = new PlainStreamReader(facts);
    const [event] = reader.read({ kind: "task", id: "t", contextId: "c", status: { state: "working" } });
    expect(event).toMatchObject({ kind: "task", task: { id: "t" } });
    expect(reader.read(END_OF_STREAM)).toEqual([]);
  });

  test("a whole reply and an error", () => {
    const reader = new PlainStreamReader(facts);
    expect(reader.read({ events: ["one"] })).toMatchObject([{ kind: "message", message: { content: [{ text: "one" }] } }]);
    expect(() => reader.read({ error: { message: "broken" } })).toThrow("broken");
    expect(() => reader.read(null)).toThrow(expect.objectContaining({ code: "bad_peer" }));
  });
});

test.each([
  ["a text", [{ kind: "text", text: "hi" }], { text: "hi" }],
  ["an object", [{ kind: "data", data: { city: "Bern" } }], { city: "Bern" }],
  ["an object that reads as text", [{ kind: "data", data: { text: "x" } }], { parts: [{ kind: "data", data: { text: "x" } }] }],
  ["an empty object", [{ kind: "data", data: {} }], { parts: [{ kind: "data", data: {} }] }],
  ["a link", [{ kind: "url", url: "https://x.test/a" }], { parts: [{ kind: "file", file: { uri: "https://x.test/a" } }] }],
] as const)("a request with %s", (_, content, message) => {
  const envelope = { ...asked, content };
  const wire = encodePlainRequest({ kind: "send", envelope, delivery: "answer", task: "auto" }, () => undefined);
  expect(wire).toMatchObject({ params: { message } });
});
