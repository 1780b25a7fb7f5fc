import { describe, expect, it, test } from "vitest";
import { type Envelope, type OperationOf, textPart } from "../../../envelope/index.js";
import { writeRequest } from "./request-1.0.js";
import { writeSendText } from "./send-text-1.0.js";

const message: Envelope = {
  id: "m-1",
  ts: 1_730_000_000.123,
  src: 'a"b',
  dst: "d",
  intent: "",
  role: "user",
  content: [textPart("hi"), textPart('line\n"\ud800')],
  context: { sessionId: "c-1" },
  meta: {},
};
const send = (members: Partial<OperationOf<"send">>): OperationOf<"send"> => ({
  kind: "send",
  delivery: "answer",
  task: "auto",
  envelope: message,
  ...members,
});
const withMessage = (members: Partial<Envelope>): OperationOf<"send"> => send({ envelope: { ...message, ...members } });

describe("writeSendText()", () => {
  test.each<[string, OperationOf<"send">]>([
    ["a message", send({})],
    ["a stream", send({ delivery: "stream", outputModes: [] })],
    ["a message of a task", withMessage({ context: { sessionId: "", taskId: "t" } })],
    ["a message that passed a gateway", withMessage({ extra: { hops: 1 } })],
    ["a message with a trace", withMessage({ context: { traceId: "0af7651916cd43dd8448eb211c80319c", tags: ["x"] } })],
    ["a message with an intent", withMessage({ intent: "translate" })],
  ])("writes the text of the object form: %s", (_, operation) => {
    const params = writeRequest(operation, undefined, () => undefined)?.params;
    expect(writeSendText(operation)).toBe(JSON.stringify(params));
  });

  it.each<[string, OperationOf<"send">]>([
    ["a receipt is wanted", send({ delivery: "accepted" })],
    ["a length of history", send({ historyLength: 0 })],
    ["output modes", send({ outputModes: ["text/plain"] })],
    ["metadata", send({ metadata: { a: 1 } })],
    ["metadata of the message", withMessage({ metadata: { a: 1 } })],
    ["references", withMessage({ references: ["t-0"] })],
    ["other parts", withMessage({ content: [{ kind: "data", data: 1 }] })],
  ])("leaves the rarer members to the object form: %s", (_, operation) => {
    expect(writeSendText(operation)).toBeUndefined();
  });
});
