import { describe, expect, test } from "vitest";
import { newEnvelope, type Part } from "../../../envelope/index.js";
import { decodeDirect, encodeDirect, readMessagingParams } from "./direct.js";

const ids = { now: () => 1_700_000_000_000, newId: () => "m-1" };
const facts = { ts: 1, newId: ids.newId, src: "", dst: "agent", partsPerMessage: 100 };
const meta = {
  profile: "anp.direct.base.v1",
  security_profile: "transport-protected",
  sender_did: "did:wba:a.test:x:e1_1",
  target: { kind: "agent", did: "did:wba:b.test:y:e1_2" },
  operation_id: "op-1",
  message_id: "m-1",
  content_type: "text/plain",
};
const decode = (change: object, body: object = { text: "hi" }) =>
  decodeDirect(readMessagingParams({ meta: { ...meta, ...change }, body: body as never }), facts);

describe("a message of direct.send", () => {
  test.each([
    ["text/plain", { text: "hi" }, { kind: "text", text: "hi" }],
    ["text/markdown", { text: "hi" }, { kind: "text", text: "hi", mediaType: "text/markdown" }],
    ["application/json", { payload: { a: 1 } }, { kind: "data", data: { a: 1 } }],
    ["application/octet-stream", { payload_b64u: "AQI" }, { kind: "raw", bytes: new Uint8Array([1, 2]) }],
  ])("of the type %s", (content_type, body, part) => {
    expect(decode({ content_type }, body).envelope.content).toMatchObject([part]);
  });

  test("that answers another is of the agent's role", () => {
    const body = { text: "hi", reply_to_message_id: "m-0", conversation_id: "c", annotations: { a: 1 } };
    expect(decode({ x_trace_id: "t" }, body)).toMatchObject({
      replyTo: "m-0",
      envelope: { role: "agent", context: { parentId: "m-0", sessionId: "c", traceId: "t" }, metadata: { a: 1 } },
    });
    expect(decode({}).envelope).toMatchObject({ role: "user", metadata: undefined });
  });

  test.each([
    ["another profile", { profile: "anp.direct.v9" }, { code: "unsupported_version" }],
    ["another security profile", { security_profile: "none" }, { code: "downgrade_refused" }],
    ["a group as its target", { target: { kind: "group", did: "d" } }, { field: "params.meta.target.kind" }],
    ["an unknown member of meta", { colour: "red" }, { field: "params.meta.colour" }],
  ])("with %s is refused", (_, change, error) => {
    expect(() => decode(change)).toThrow(expect.objectContaining(error));
  });

  test.each([[{}], [{ text: "a", payload: {} }], [undefined]])("with the body %j is refused", (body) => {
    expect(() => decodeDirect(readMessagingParams({ meta, ...(body && { body: body as never }) }), facts)).toThrow(
      "exactly one of",
    );
  });
});

describe("an envelope as direct.send", () => {
  const encode = (content: readonly Part[], context = {}) =>
    encodeDirect(
      { ...newEnvelope({ content: "", src: "", dst: "", context }, ids), content },
      { senderDid: "did:a", targetDid: "did:b" },
    );

  test.each([
    [{ kind: "text", text: "hi" }, "text/plain", { text: "hi" }],
    [{ kind: "data", data: { a: 1 } }, "application/json", { payload: { a: 1 } }],
    [{ kind: "data", data: 7 }, "application/json", { payload: { value: 7 } }],
    [{ kind: "raw", bytes: new Uint8Array([1, 2]) }, "application/octet-stream", { payload_b64u: "AQI" }],
    [{ kind: "text", text: "hi", mediaType: "text/markdown" }, "text/markdown", { text: "hi" }],
  ] as const)("%j", (part, type, body) => {
    expect(encode([part])).toEqual({
      meta: expect.objectContaining({ content_type: type, created_at: "2023-11-14T22:13:20Z" }),
      body,
    });
  });

  test("names trace, conversation, key and the message it answers", () => {
    const sent = encode([{ kind: "text", text: "hi" }], { traceId: "t", sessionId: "s", parentId: "p", idempotencyKey: "k" });
    expect(sent).toMatchObject({
      meta: { x_trace_id: "t", operation_id: "k" },
      body: { conversation_id: "s", reply_to_message_id: "p" },
    });
  });

  test.each([
    [[]],
    [[{ kind: "url", url: "https://x.test" }]],
    [
      [
        { kind: "text", text: "a" },
        { kind: "text", text: "b" },
      ],
    ],
  ])("%j cannot be carried", (content) => {
    expect(() => encode(content as readonly Part[])).toThrow(expect.objectContaining({ code: "unsupported_content" }));
  });
});
