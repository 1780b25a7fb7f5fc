import { describe, expect, it } from "vitest";
import { dataPart, type Envelope, type Loss, type Part, type Task, textPart } from "../../envelope/index.js";
import { DecodeProblem } from "../../transport/fields.js";
import { bodyOf, decodeReply, decodeRequest, encodeReply, encodeRequest, readReply, readRequest } from "./codec.js";

const noLoss = (loss: Loss): never => {
  throw new Error(`lost ${loss.path}`);
};
const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const raw: Part = { kind: "raw", bytes: new Uint8Array([0, 255]), name: "b" };
const url: Part = { kind: "url", url: "https://files.example/x" };

function envelope(content: readonly Part[], more: Partial<Envelope> = {}): Envelope {
  return {
    id: "m-1",
    ts: 1_700_000_000.5,
    src: "alice",
    dst: "bob",
    intent: "",
    role: "user",
    content,
    context: {},
    meta: {},
    ...more,
  };
}

const EVERYTHING = envelope([textPart("hi"), dataPart({ n: 1 }), url, raw], {
  intent: "greet",
  context: {
    traceId: "t",
    parentId: "p",
    idempotencyKey: "k",
    taskId: "task",
    priority: 1,
    ttlMs: 2,
    stream: true,
    artifactRefs: ["a"],
    tags: ["b"],
    minVersion: "1",
    maxVersion: "2",
  },
  meta: { protocolHint: "agora", retryCount: 1 },
  references: ["r"],
  extensions: ["e"],
  metadata: { own: true },
  extra: { more: 1 },
});

const FORM = { hash: null, sources: [], multiround: false, json: false, whole: false } as const;
const FACTS = {
  now: 5_000,
  newId: () => "new",
  src: "caller",
  dst: "agent",
  intent: undefined,
  json: false,
  sessionId: undefined,
  taskId: undefined,
};
const REPLY_FORM = { conversationId: undefined, whole: true, json: false, task: undefined };
const REPLY_FACTS = {
  now: 5_000,
  newId: () => "new",
  src: "agent",
  dst: "caller",
  sessionId: "s",
  parentId: "m-1",
  traceId: "t",
};

/** Removes members that `toEqual` treats as absent. */
const shown = (value: Envelope): unknown => ({ ...value, context: overTheWire(value.context), meta: overTheWire(value.meta) });

describe("bodyOf()", () => {
  it("is all text, or the JSON of a lone data part", () => {
    expect(bodyOf([textPart("a"), url, textPart("b"), dataPart(1)])).toBe("a\nb");
    expect(bodyOf([dataPart({ a: [1, null] })])).toBe('{"a":[1,null]}');
    expect(bodyOf([raw])).toBe("");
    expect(bodyOf([])).toBe("");
  });
});

describe("a request", () => {
  it("is encoded like that of the library's sender, with additional members", () => {
    const wire = overTheWire(
      encodeRequest(envelope([textPart("hi")], { context: { traceId: "t", sessionId: "s" } }), FORM, noLoss),
    );
    expect(wire).toEqual({
      protocolHash: null,
      protocolSources: [],
      body: "hi",
      metadata: { koine: 1, request_id: "m-1", source: "alice", target: "bob", trace_id: "t", session: "s" },
    });
    expect(encodeRequest(envelope([textPart("hi")]), { ...FORM, multiround: true }, noLoss).multiround).toBe(true);
  });

  it("carries everything to a Koine peer", () => {
    const wire = overTheWire(encodeRequest(EVERYTHING, { ...FORM, whole: true }, noLoss));
    expect(shown(decodeRequest(readRequest(wire), FACTS))).toEqual(shown(EVERYTHING));
  });

  it("reports its losses for other peers", () => {
    const losses: Loss[] = [];
    const wire = encodeRequest(EVERYTHING, FORM, (loss) => losses.push(loss));
    expect(overTheWire(wire)).not.toHaveProperty("metadata.envelope");
    expect(losses.map(({ path }) => path)).toEqual([
      "message.parts[1]",
      "message.parts[2]",
      "message.parts[3]",
      "message.references",
      "message.extensions",
      "message.metadata",
      "message.extra",
      "message.meta.protocolHint",
      "message.meta.retryCount",
      "message.context.priority",
      "message.context.ttlMs",
      "message.context.stream",
      "message.context.artifactRefs",
      "message.context.tags",
      "message.context.minVersion",
      "message.context.maxVersion",
      "message.intent",
      "message.context.parentId",
      "message.context.taskId",
    ]);
  });

  it("has no losses for JSON if the document requires JSON, and for a single text", () => {
    const form = { ...FORM, hash: "L9xl1shodRYEKdIIT3ydYkazG8M=", json: true };
    const wire = encodeRequest(envelope([dataPart({ a: 1 })], { intent: "echo" }), form, noLoss);
    expect(wire.body).toBe('{"a":1}');
    expect(decodeRequest(readRequest(overTheWire(wire)), { ...FACTS, intent: "echo", json: true })).toMatchObject({
      intent: "echo",
      content: [{ kind: "data", data: { a: 1 } }],
    });
  });

  it("refuses a message without text before it is sent to a peer that reads only the body", () => {
    expect(() => encodeRequest(envelope([raw, raw]), FORM, () => undefined)).toThrow(
      expect.objectContaining({ code: "unsupported_content", facts: expect.objectContaining({ sent: "no" }) }),
    );
  });

  it("reports lost names and a second text", () => {
    const losses: string[] = [];
    const named: Part = { kind: "text", text: "a", name: "a.txt", mediaType: "text/markdown" };
    encodeRequest(envelope([named, textPart("b")]), FORM, ({ path, reason }) => losses.push(`${path}: ${reason}`));
    expect(losses).toEqual([
      "message.parts[0].name: a body has no additional members",
      "message.parts[0].mediaType: a body has no additional members",
      "message.parts[1]: Agora has a single text body: the text is appended as a further line",
    ]);
  });

  it("uses the body if it differs from the envelope", () => {
    const wire = encodeRequest(envelope([textPart("hi"), url]), { ...FORM, whole: true }, noLoss);
    const changed = readRequest({ ...(overTheWire(wire) as object), body: "changed on the way" });
    expect(decodeRequest(changed, FACTS).content).toEqual([textPart("changed on the way")]);
  });

  it("takes its ids from the conversation, not from the caller's members", () => {
    const read = readRequest(
      overTheWire(encodeRequest(envelope([textPart("x")], { context: { sessionId: "mine" } }), FORM, noLoss)),
    );
    expect(decodeRequest(read, FACTS).context.sessionId).toBe("mine");
    expect(decodeRequest(read, { ...FACTS, sessionId: "c-1", taskId: "t-1" }).context).toMatchObject({
      sessionId: "c-1",
      taskId: "t-1",
    });
  });

  it("fills in what a plain peer omits", () => {
    expect(decodeRequest(readRequest({ protocolHash: null, body: "x" }), FACTS)).toMatchObject({
      id: "new",
      ts: 5,
      src: "caller",
      dst: "agent",
      role: "user",
      content: [{ kind: "text", text: "x" }],
    });
  });
});

describe("a reply", () => {
  const answer = (content: readonly Part[], more: Partial<Envelope> = {}) =>
    envelope(content, { role: "agent", src: "bob", dst: "alice", context: { sessionId: "c-1", parentId: "m-1" }, ...more });

  it("is plain for plain callers", () => {
    const wire = encodeReply(answer([textPart("hi")]), { ...REPLY_FORM, whole: false, conversationId: "c-1" }, noLoss);
    expect(JSON.stringify(wire)).toBe('{"status":"success","conversationId":"c-1","body":"hi"}');
  });

  it("carries everything to a Koine caller, and reports losses for others", () => {
    const message = answer([textPart("hi"), url], { metadata: { own: 1 } });
    const read = readReply(overTheWire(encodeReply(message, REPLY_FORM, noLoss)));
    expect(decodeReply(read, REPLY_FACTS)).toMatchObject({
      id: "m-1",
      content: [{ text: "hi" }, { url: "https://files.example/x" }],
      metadata: { own: 1 },
      context: { sessionId: "s", parentId: "m-1", traceId: "t" },
    });
    const losses: string[] = [];
    encodeReply(message, { ...REPLY_FORM, whole: false }, ({ path }) => losses.push(path));
    expect(losses).toEqual(["message.parts[1]", "message.metadata"]);
  });

  const DONE: Task = {
    id: "t-1",
    contextId: "s",
    status: { state: "completed", at: 5 },
    artifacts: [{ id: "result", parts: [textPart("hi")] }],
    history: [],
  };

  it("needs no envelope for a single text", () => {
    const wire = encodeReply(answer([textPart("hi")]), { ...REPLY_FORM, task: DONE }, noLoss);
    expect(wire.metadata?.envelope).toBeUndefined();
    expect(decodeReply(readReply(overTheWire(wire)), REPLY_FACTS).context).toMatchObject({ taskId: "t-1", parentId: "m-1" });
  });

  it("is decoded in every dialect", () => {
    expect(readReply({ status: "error", message: "m" }).body).toBe("m");
    expect(readReply({ status: "failure", body: "b" }).body).toBe("b");
    expect(readReply({ status: "rejected" }).body).toBe("");
    for (const wrong of [{}, { status: "ok" }, [], null, { status: "success", body: 7 }])
      expect(() => readReply(wrong), JSON.stringify(wrong)).toThrow(DecodeProblem);
  });
});

describe("signed and sealed messages", () => {
  const bytes = new Uint8Array([0, 255, 7]);
  const proofs = [{ scheme: "s", signer: "did:x:1", keyId: "did:x:1#1", signed: bytes, signature: bytes }];
  const sealed: Part = { kind: "raw", bytes, mediaType: "application/vnd.koine.sealed" };
  const SIGNED = envelope([textPart("hi")], { proofs });
  const REFUSED = expect.objectContaining({ code: "downgrade_refused" });

  it("are carried whole to Koine peers, and refused for others", () => {
    const wire = encodeRequest(SIGNED, { ...FORM, whole: true }, noLoss);
    expect(decodeRequest(readRequest(overTheWire(wire)), FACTS).proofs).toEqual(proofs);
    for (const message of [SIGNED, envelope([sealed])]) {
      expect(() => encodeRequest(message, FORM, noLoss)).toThrow(REFUSED);
      expect(() => encodeReply({ ...message, role: "agent" }, { ...REPLY_FORM, whole: false }, noLoss)).toThrow(REFUSED);
    }
  });

  it("of a task are refused for others too", () => {
    const status = { state: "completed", at: 5, message: { ...SIGNED, role: "agent" } } as const;
    const task: Task = { id: "t-1", contextId: "s", status, artifacts: [], history: [] };
    const said = envelope([textPart("hi")], { role: "agent" });
    expect(() => encodeReply(said, { ...REPLY_FORM, whole: false, task }, noLoss)).toThrow(REFUSED);
  });

  it("are not replaced by a body that was changed on the way", () => {
    const wire = encodeRequest(SIGNED, { ...FORM, whole: true }, noLoss);
    expect(() => decodeRequest(readRequest(overTheWire({ ...wire, body: "changed" })), FACTS)).toThrow(
      "metadata.envelope is signed or sealed, and the body differs from it",
    );
  });
});
