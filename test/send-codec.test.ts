import { describe, expect, test } from "vitest";
import type { OperationOf } from "../src/envelope/index.js";
import { AgentError } from "../src/index.js";
import { protocols, type SendCodec } from "../src/public/protocols.js";

/** Codecs read what they write: from a message to its text and back, without client or server. */

/** Of a plain message. Between identities it has what its author signs, and room for the signature, too. */
const MOST_CHARS = { open: 500, signed: 1_500 };
const codecs = protocols.flatMap(({ id, codec, needsIdentity }): [string, SendCodec & { readonly mostChars: number }][] =>
  codec === undefined ? [] : [[id, { ...codec, mostChars: needsIdentity === true ? MOST_CHARS.signed : MOST_CHARS.open }]],
);
const SEND: OperationOf<"send"> = {
  kind: "send",
  envelope: {
    id: "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a04",
    ts: 1_767_323_045.678,
    src: "caller",
    dst: "agent-0001",
    intent: "translate",
    role: "user",
    content: [
      { kind: "text", text: "soirée 🎉" },
      { kind: "data", data: { deep: [1, { ok: true }] } },
      { kind: "raw", bytes: new Uint8Array([0, 255]), mediaType: "image/png" },
      { kind: "url", url: "https://files.example/a", mediaType: "text/html" },
    ],
    context: { sessionId: "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a02", idempotencyKey: "k-1", priority: 3, tags: ["x"] },
    meta: { retryCount: 1 },
    metadata: { note: "n" },
  },
  delivery: "answer",
  task: "auto",
};

test("there are codecs to test", () => expect(codecs.map(([id]) => id)).toEqual(expect.arrayContaining(["a2a", "acp", "sage"])));

describe.each(codecs)("the codec of %s", (_, { write, read, mostChars }) => {
  test("round-trips a message", () => {
    const { kind, delivery, envelope } = read(write(SEND));
    const { id, intent, role, content, context, meta, metadata } = SEND.envelope;
    expect({ kind, delivery }).toEqual({ kind: "send", delivery: "answer" });
    expect(envelope).toMatchObject({ id, intent, role, content, context, meta, metadata });
  });

  test("writes JSON, and a plain message without unnecessary members", () => {
    const plain = { ...SEND.envelope, intent: "", context: {}, meta: {}, metadata: undefined };
    const text = write({ ...SEND, envelope: { ...plain, content: [{ kind: "text", text: "hello" }] } });
    expect(JSON.parse(text)).toBeTypeOf("object");
    expect(text.length).toBeLessThan(mostChars);
  });

  test.each([
    "",
    "{",
    "[]",
    "null",
    "{}",
    '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}',
    '{"body":{"agent_name":1}}',
  ])("refuses %j with an AgentError", (text) => {
    expect(() => read(text)).toThrow(AgentError);
  });
});
