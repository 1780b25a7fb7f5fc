import { describe, expect, test } from "vitest";
import { newEnvelope, type Part } from "../../../envelope/index.js";
import { decodePlain, decodePlainAnswer, encodePlain, encodePlainAnswer } from "./codec.js";

/** The seeds' form of `POST /anp/message` (G.7). */
const ids = { now: () => 2_000, newId: () => "new" };
const facts = { ts: 1, newId: ids.newId, src: "someone", dst: "agent", partsPerMessage: 100 };

describe("a message of the seeds", () => {
  test.each([
    ["payload.text", { text: "hi", context: {} }, [{ kind: "text", text: "hi" }]],
    ["payload.content", { content: { text: "hi" } }, [{ kind: "text", text: "hi" }]],
    ["payload.content as data", { content: { a: 1, text: "x" } }, [{ kind: "data", data: { a: 1, text: "x" } }]],
    ["payload as data", { question: "?", metadata: {} }, [{ kind: "data", data: { question: "?" } }]],
    ["payload as text", "hi", [{ kind: "text", text: "hi" }]],
    ["payload as a list", [1], [{ kind: "data", data: [1] }]],
  ])("%s", (_, payload, content) => {
    expect(decodePlain({ payload }, facts)).toMatchObject({
      requestId: "new",
      type: undefined,
      envelope: { id: "new", ts: 1, src: "someone", dst: "agent", content },
    });
  });

  test("has its names in the message or in its context", () => {
    const wire = {
      request_id: "r",
      timestamp: 9.5,
      source_id: "s",
      target_did: "did:b",
      protocol_type: "META",
      session_id: "s-1",
      payload: { text: "hi", context: { trace_id: "t" }, metadata: { a: 1 } },
    };
    expect(decodePlain(wire, facts)).toMatchObject({
      requestId: "r",
      type: "META",
      envelope: { ts: 9.5, src: "s", dst: "did:b", context: { traceId: "t", sessionId: "s-1" }, metadata: { a: 1 } },
    });
    expect(decodePlain({ ...wire, source_did: "did:a" }, facts).envelope.src).toBe("did:a");
  });

  test.each([
    [{}, "payload"],
    [{ payload: {}, protocol_type: "OTHER" }, "protocol_type"],
    [{ payload: { context: 1 } }, "payload.context"],
    [{ payload: {}, timestamp: "now" }, "timestamp"],
  ])("%j is refused", (wire, field) => {
    expect(() => decodePlain(wire, facts)).toThrow(expect.objectContaining({ field }));
  });
});

test.each([
  [[{ kind: "text", text: "hi" }], { text: "hi", content: { text: "hi" } }],
  [[{ kind: "data", data: { a: 1 } }], { content: { a: 1 } }],
  [
    [
      { kind: "data", data: 1 },
      { kind: "text", text: "hi" },
    ],
    { text: "hi", content: { text: "hi" } },
  ],
] as const)("%j as a message of the seeds", (content, payload) => {
  const envelope = { ...newEnvelope({ content: "", src: "", dst: "", context: {} }, ids), content: content as readonly Part[] };
  const losses: string[] = [];
  expect(encodePlain(envelope, ({ path }) => losses.push(path))).toMatchObject({ source_id: "koine", payload });
  expect(losses).toEqual(content.length > 1 ? ["message.parts[0]"] : []);
  expect(encodePlain({ ...envelope, src: "me", dst: "did:b" }, () => undefined)).toMatchObject({
    source_id: "me",
    target_did: "did:b",
  });
});

test("an answer names its message, and its task if it has one", () => {
  const text: Part = { kind: "text", text: "done" };
  const answered = { requestId: "r", type: undefined, ts: 3 } as const;
  const answer = encodePlainAnswer(answered, { parts: [text], taskId: "t" }, () => undefined);
  expect(answer).toMatchObject({ request_id: "r", payload: { content: { text: "done" }, context: { task_id: "t" } } });
  expect(decodePlainAnswer(answer, "r")).toMatchObject([{ kind: "text", text: "done" }]);
  const data: Part = { kind: "data", data: 7 };
  expect(
    encodePlainAnswer({ ...answered, type: "NATURAL" }, { parts: [data], taskId: undefined }, () => undefined),
  ).toMatchObject({ protocol_type: "NATURAL", payload: { content: 7, context: {} } });
  expect(decodePlainAnswer({ payload: "done" }, "r")).toMatchObject([text]);
  expect(() => decodePlainAnswer(answer, "other")).toThrow(expect.objectContaining({ field: "request_id" }));
  expect(() => decodePlainAnswer({}, "r")).toThrow(expect.objectContaining({ field: "payload" }));
});
