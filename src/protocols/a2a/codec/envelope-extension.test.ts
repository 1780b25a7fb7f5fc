import { describe, expect, test } from "vitest";
import type { Envelope } from "../../../envelope/index.js";
import type { DecodeFacts } from "../dialect.js";
import { v1 } from "./codec-1.0.js";
import { ENVELOPE_KEY } from "./envelope-extension.js";

const facts: DecodeFacts = { now: 5000, src: "caller", dst: "agent", partsPerMessage: 4, reportLoss: () => undefined };
const plain: Envelope = {
  id: "m",
  ts: 1730000000.123,
  src: "agent_A",
  dst: "agent_B",
  intent: "",
  role: "user",
  content: [{ kind: "text", text: "hi" }],
  context: {},
  meta: {},
};
// The members of the seed's sample envelope that A2A lacks.
const full: Envelope = {
  ...plain,
  intent: "qa/search",
  context: {
    traceId: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736",
    parentId: "p",
    idempotencyKey: "k",
    sessionId: "s-123",
    taskId: "t-1",
    priority: 0,
    ttlMs: 30000,
    stream: false,
    artifactRefs: ["uri://x"],
    tags: ["GAIA", "docqa"],
    minVersion: "1",
    maxVersion: "2",
  },
  meta: { protocolHint: "a2a", retryCount: 0 },
  metadata: { mine: true },
  proofs: [{ scheme: "x", signer: "did:a", keyId: "1", signed: new Uint8Array([1]), signature: new Uint8Array([2, 3]) }],
  extra: { note: "kept" },
};
const carried = {
  ts: 1730000000.123,
  src: "agent_A",
  dst: "agent_B",
  intent: "qa/search",
  context: {
    trace_id: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736",
    parent_id: "p",
    idempotency_key: "k",
    priority: 0,
    ttl_ms: 30000,
    stream: false,
    artifact_refs: ["uri://x"],
    tags: ["GAIA", "docqa"],
    min_version: "1",
    max_version: "2",
  },
  meta: { protocol_hint: "a2a", retry_count: 0 },
  proofs: [{ scheme: "x", signer: "did:a", key_id: "1", signed: "AQ==", signature: "AgM=" }],
  extra: { note: "kept" },
};
const encode = (envelope: Envelope): unknown =>
  JSON.parse(
    JSON.stringify(
      v1.encodeRequest({ kind: "send", envelope, delivery: "answer", task: "auto" }, undefined, () => undefined)?.params,
    ),
  );
const decode = (params: unknown): unknown => v1.decodeRequest("SendMessage", params, facts);
const withValue = (value: unknown) => ({
  message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }], metadata: { [ENVELOPE_KEY]: value } },
});

describe("ENVELOPE_KEY", () => {
  test("has this name, which is part of the wire format", () => {
    expect(ENVELOPE_KEY).toBe("urn:koine:envelope:1");
  });

  test("holds all members that A2A lacks, under their UTE names", () => {
    expect(encode(full)).toEqual({
      message: {
        messageId: "m",
        contextId: "s-123",
        taskId: "t-1",
        role: "ROLE_USER",
        parts: [{ text: "hi" }],
        metadata: { mine: true, "urn:koine:envelope:1": carried },
      },
    });
  });

  test("is removed on reading", () => {
    expect(decode(encode(full))).toMatchObject({ envelope: full });
    const { metadata: _, ...bare } = full;
    expect(decode(encode(bare))).toMatchObject({ envelope: { ...bare, metadata: undefined } });
  });

  test("is not written for a message that needs none; time and names then come from the link", () => {
    expect(encode(plain)).toEqual({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } });
    expect(decode(encode(plain))).toMatchObject({ envelope: { ts: 5, src: "caller", dst: "agent" } });
  });

  test("is reserved: a value of the author is dropped and reported", () => {
    const paths: string[] = [];
    const envelope = { ...plain, metadata: { [ENVELOPE_KEY]: "mine", other: 1 } };
    const encoded = v1.encodeRequest({ kind: "send", envelope, delivery: "answer", task: "auto" }, undefined, ({ path }) =>
      paths.push(path),
    );
    expect(encoded?.params).toMatchObject({ message: { metadata: { other: 1 } } });
    expect(JSON.stringify(encoded)).not.toContain(ENVELOPE_KEY);
    expect(paths).toEqual(["message.metadata"]);
  });

  test.each<[unknown, string]>([
    ["text", 'message.metadata["urn:koine:envelope:1"] must be an object, not a string'],
    [null, 'message.metadata["urn:koine:envelope:1"] must be an object, not null'],
    [{ ts: "now" }, 'message.metadata["urn:koine:envelope:1"].ts must be a number, not a string'],
    [{ context: { tags: "a" } }, 'message.metadata["urn:koine:envelope:1"].context.tags must be an array, not a string'],
    [
      { meta: { retry_count: 0.5 } },
      'message.metadata["urn:koine:envelope:1"].meta.retry_count must be a whole number, not a fraction',
    ],
    [
      { proofs: [{ scheme: "x", signer: "y", key_id: "1", signed: "?", signature: "" }] },
      'message.metadata["urn:koine:envelope:1"].proofs[0].signed is not base64 (at character 1)',
    ],
  ])("rejects %j by name", (value, want) => {
    expect(() => decode(withValue(value))).toThrow(want);
  });

  test("a member named __proto__ stays an ordinary member", () => {
    const metadata = JSON.parse(`{"__proto__": {"polluted": true}, "${ENVELOPE_KEY}": {"intent": "x"}}`);
    const operation = v1.decodeRequest(
      "SendMessage",
      { message: { messageId: "m", role: 1, parts: [{ text: "x" }], metadata } },
      facts,
    );
    expect(JSON.stringify(operation)).toContain('"metadata":{"__proto__":{"polluted":true}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
