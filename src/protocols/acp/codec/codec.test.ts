import { describe, expect, test } from "vitest";
import {
  type Card,
  type Envelope,
  type Loss,
  newEnvelope,
  type OperationOf,
  type Part,
  type State,
  type Task,
  textPart,
} from "../../../envelope/index.js";
import { NestedJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import {
  type CodecFacts,
  decodeAnswer,
  decodeManifest,
  decodeResume,
  decodeRun,
  decodeRunRequest,
  encodeManifest,
  encodeReply,
  encodeRun,
  encodeRunRequest,
  outputLength,
  RunEventReader,
  RunEventWriter,
  sendOf,
} from "../codec.js";

const RUN = "0f5c1a52-5b9e-4c9e-9a4e-3f2d7a1b6c11";
const SESSION = "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11";
const losses: Loss[] = [];
const reportLoss = (loss: Loss): void => void losses.push(loss);
const facts: CodecFacts = {
  now: 5_000,
  newId: () => "new",
  src: "caller",
  dst: "echo",
  partsPerMessage: 3,
  nested: new NestedJson(DEFAULT_LIMITS),
  reportLoss,
};
const runFacts = { agentName: "echo", createdAt: 1_000, reportLoss };

const request = (parts: readonly unknown[], more: object = {}): unknown => ({ agent_name: "echo", input: [{ parts }], ...more });
const contentOf = (...parts: readonly unknown[]): readonly Part[] =>
  sendOf(decodeRunRequest(request(parts), facts)).envelope.content;
const problemOf = (body: unknown): string => {
  try {
    decodeRunRequest(body, facts);
  } catch (thrown) {
    return (thrown as Error).message; // what is thrown is an error
  }
  return "none";
};

describe("a request", () => {
  test("of an old client has no role, no mode and no content type", () => {
    const read = decodeRunRequest(request([{ content: "hi" }]), facts);
    expect(read).toMatchObject({ agentName: "echo", mode: "sync", sessionId: undefined });
    expect(sendOf(read).envelope).toMatchObject({
      id: "new",
      role: "user",
      src: "caller",
      dst: "echo",
      content: [{ kind: "text", text: "hi" }],
    });
  });

  test("may contain null for absent members", () => {
    const nothing = {
      name: null,
      content_type: null,
      content_encoding: null,
      content_url: null,
      metadata: null,
      "urn:koine:1": null,
    };
    const message = { role: null, created_at: null, completed_at: null, parts: [{ content: "hi", ...nothing }] };
    const sent = decodeRunRequest({ agent_name: "echo", input: [message], session_id: null, session: null, mode: null }, facts);
    expect(sendOf(sent).envelope).toEqual(sendOf(decodeRunRequest(request([{ content: "hi" }]), facts)).envelope);
  });

  test.each<[string, unknown, string]>([
    [
      "an undefined role",
      { agent_name: "x", input: [{ role: "system", parts: [] }] },
      "input[0].role must be user, agent or agent/name",
    ],
    [
      "content twice",
      request([{ content: "x", content_url: "https://a.example" }]),
      "input[0].parts[0] must not have both content and content_url",
    ],
    [
      "another encoding",
      request([{ content: "x", content_encoding: "hex" }]),
      "input[0].parts[0].content_encoding must be plain or base64",
    ],
    [
      "no base64",
      request([{ content: "?", content_encoding: "base64" }]),
      "input[0].parts[0].content is not base64 (at character 1)",
    ],
    ["a number for content", request([{ content: 1 }]), "input[0].parts[0].content must be a string, not a number"],
    ["too many parts", request([{}, {}, {}, {}]), "input[0].parts has 4 parts; at most 3 are read"],
    ["no agent", { input: [] }, "agent_name is missing; a string is expected"],
    ["no input", { agent_name: "x" }, "input is missing; an array is expected"],
    ["a message that is none", { agent_name: "x", input: [null] }, "input[0] must be an object, not null"],
    ["another mode", request([], { mode: "later" }), "mode must be one of sync, async, stream"],
    ["a session that is no UUID", request([], { session_id: "s-1" }), "session_id must be a UUID"],
    ["two sessions", request([], { session_id: SESSION, session: { id: RUN } }), "Session ID mismatch"],
    [
      "JSON too deep",
      request([{ content_type: "application/json", content: "[".repeat(65) + "]".repeat(65) }]),
      "input[0].parts[0].content is too large: the body is nested 65 levels deep; the limit is 64",
    ],
    [
      "too many values in the JSON of its parts together",
      request(Array(3).fill({ content_type: "application/json", content: JSON.stringify(Array(40_000).fill(0)) })),
      "input[0].parts[2].content is too large: the body has more than 100000 JSON values; send large data as a file",
    ],
  ])("with %s is rejected", (_, body, problem) => {
    facts.nested.restart();
    expect(problemOf(body)).toBe(problem);
    facts.nested.restart();
  });

  test("of several messages is one: those of the last author, with earlier ones kept", () => {
    const say = (role: string, content: string) => ({ role, parts: [{ content }] });
    const input = [say("user", "one"), say("agent/helper", "two"), say("user", "three"), say("user", "four")];
    const { envelope } = sendOf(decodeRunRequest({ agent_name: "echo", input }, facts));
    expect(envelope.content.map((part) => (part.kind === "text" ? part.text : ""))).toEqual(["three", "four"]);
    expect(envelope.extra).toEqual({ acp: { input: input.slice(0, 2), session: undefined } });
    const operation: OperationOf<"send"> = { kind: "send", envelope, delivery: "answer", task: "auto" };
    const { body } = encodeRunRequest(operation, "echo", undefined, reportLoss);
    expect((body["input"] as readonly object[]).slice(0, 2)).toEqual(input.slice(0, 2));
  });

  test("with another agent's message names its author", () => {
    const { envelope } = sendOf(decodeRunRequest({ agent_name: "echo", input: [{ role: "agent/helper", parts: [] }] }, facts));
    expect(envelope).toMatchObject({ role: "agent", src: "helper", content: [{ kind: "text", text: "" }] });
  });

  test("with a session keeps its descriptor", () => {
    const session = { id: SESSION, history: ["https://a.example/resources/1"], state: null };
    const read = decodeRunRequest(request([], { session }), facts);
    expect(read.sessionId).toBe(SESSION);
    expect(sendOf(read).envelope).toMatchObject({
      context: { sessionId: SESSION },
      extra: { acp: { session: { history: session.history } } },
    });
  });

  test("reports losses if the envelope exceeds the header limit", () => {
    losses.length = 0;
    const envelope = { ...sendOf(decodeRunRequest(request([]), facts)).envelope, metadata: { long: "x".repeat(5_000) } };
    const { headers } = encodeRunRequest(
      { kind: "send", envelope, delivery: "answer", task: "auto" },
      "echo",
      undefined,
      reportLoss,
    );
    expect(headers).toEqual({ "koine-message-id": "new" });
    expect(losses.map(({ path }) => path)).toContain("message.metadata");
  });

  test.each<[string, Partial<Envelope>, readonly string[]]>([
    ["nothing beside its message has its id in a header", {}, ["koine-message-id"]],
    ["a key has it in the header of that name", { context: { idempotencyKey: "k 1" } }, ["idempotency-key", "koine-message-id"]],
    ["an id that no header takes is in the envelope header", { id: "é" }, ["koine-envelope"]],
    ["an id that is too long is in the envelope header", { id: "x".repeat(129) }, ["koine-envelope"]],
    [
      "a key that no header takes is in the envelope header",
      { context: { idempotencyKey: "é" } },
      ["koine-envelope", "koine-message-id"],
    ],
    ["an intent is in the envelope header", { intent: "book" }, ["koine-envelope", "koine-message-id"]],
    ["references are in the envelope header", { references: ["r"] }, ["koine-envelope", "koine-message-id"]],
  ])("with %s, and round-trips", (_, says, names) => {
    const said = { ...sendOf(decodeRunRequest(request([]), facts)).envelope, ...says };
    const { body, headers } = encodeRunRequest(
      { kind: "send", envelope: said, delivery: "answer", task: "auto" },
      "echo",
      undefined,
      reportLoss,
    );
    expect(Object.keys(headers).sort()).toEqual(names);
    const { id, intent, references, context } = sendOf(
      decodeRunRequest(body, { ...facts, newId: () => "other", headers }),
    ).envelope;
    expect({ id, intent, references, key: context.idempotencyKey }).toEqual({
      id: said.id,
      intent: said.intent,
      references: said.references,
      key: said.context.idempotencyKey,
    });
  });

  test("with an id that is not valid in a header is rejected", () => {
    for (const id of ["x".repeat(129), "é", "a\tb"])
      expect(() => decodeRunRequest(request([]), { ...facts, headers: { "koine-message-id": id } })).toThrow(
        /^koine-message-id /,
      );
  });

  test("ignores Koine members copied from an earlier answer", () => {
    const own = { message: { id: "stolen", intent: "x" }, said: "status" };
    expect(sendOf(decodeRunRequest(request([{ content: "x", "urn:koine:1": own }]), facts)).envelope).toMatchObject({
      id: "new",
      intent: "",
    });
  });
});

describe("the signatures of a request", () => {
  const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(7);
  const signed = (length: number): OperationOf<"send"> => {
    const made = newEnvelope({ content: "hi", src: "ann", dst: "echo", context: {} }, { now: () => 5_000, newId: () => "m-1" });
    const proof = { scheme: "s", signer: "did:x:1", keyId: "did:x:1#1", signed: bytes(length), signature: bytes(64) };
    return { kind: "send", envelope: { ...made, proofs: [proof] }, delivery: "answer", task: "auto" };
  };

  test("are in its header, or it is refused if they do not fit", () => {
    const short = signed(500);
    const { body, headers } = encodeRunRequest(short, "echo", undefined, reportLoss);
    expect(sendOf(decodeRunRequest(body, { ...facts, headers })).envelope.proofs).toEqual(short.envelope.proofs);
    expect(() => encodeRunRequest(signed(4_096), "echo", undefined, reportLoss)).toThrow(
      expect.objectContaining({ code: "downgrade_refused", facts: expect.objectContaining({ sent: "no" }) }),
    );
  });
});

describe("a part", () => {
  test.each<[string, object, Part]>([
    ["JSON", { content_type: "application/json", content: '{"a": 1}' }, { kind: "data", data: { a: 1 } }],
    [
      "JSON of a kind",
      { content_type: "application/x+json; v=1", content: "[]" },
      { kind: "data", data: [], mediaType: "application/x+json; v=1" },
    ],
    [
      "JSON that is none",
      { content_type: "application/json", content: "{" },
      { kind: "text", text: "{", mediaType: "application/json" },
    ],
    ["Markdown", { content_type: "text/markdown", content: "# a" }, { kind: "text", text: "# a", mediaType: "text/markdown" }],
    ["XML", { content_type: "application/xml", content: "<a/>" }, { kind: "text", text: "<a/>", mediaType: "application/xml" }],
    [
      "bytes",
      { content_type: "image/png", content: "AP8=", content_encoding: "base64" },
      { kind: "raw", bytes: new Uint8Array([0, 255]), mediaType: "image/png" },
    ],
    [
      "an address",
      { content_type: "image/png", content_url: "https://a.example/x" },
      { kind: "url", url: "https://a.example/x", mediaType: "image/png" },
    ],
    ["nothing", {}, { kind: "text", text: "" }],
    [
      "a citation",
      { metadata: { kind: "citation", url: "https://a.example", start_index: 0, end_index: null } },
      { kind: "text", text: "", metadata: { citation: { url: "https://a.example", start_index: 0 } } },
    ],
    [
      "a step",
      { content: "x", metadata: { kind: "trajectory", tool_name: "grep", tool_input: { a: null } } },
      { kind: "text", text: "x", metadata: { trajectory: { tool_name: "grep", tool_input: { a: null } } } },
    ],
    ["unknown members", { content: "x", foo: [1] }, { kind: "text", text: "x", metadata: { acp: { foo: [1] } } }],
  ])("of %s", (_, wire, part) => {
    expect(contentOf(wire)).toEqual([part]);
  });

  test("whose JSON has a number that may change reports it", () => {
    losses.length = 0;
    contentOf({ content_type: "application/json", content: "12345678901234567890" });
    expect(losses).toMatchObject([{ protocol: "acp", path: "input[0].parts[0].content", valueKind: "number" }]);
  });
});

const task = (state: State, more: Partial<Task> = {}): Task =>
  ({ id: RUN, contextId: SESSION, status: { state, at: 2_000 }, artifacts: [], history: [], ...more }) as Task; // every state has these

describe("a run", () => {
  test.each<[State, string, State]>([
    ["submitted", "created", "submitted"],
    ["working", "in-progress", "working"],
    ["input-required", "awaiting", "input-required"],
    ["auth-required", "awaiting", "auth-required"],
    ["canceling", "cancelling", "canceling"],
    ["canceled", "cancelled", "canceled"],
    ["completed", "completed", "completed"],
    ["failed", "failed", "failed"],
    ["rejected", "failed", "rejected"],
    ["unknown", "in-progress", "working"],
  ])("of a task that is %s is %s, and is decoded as %s", (state, status, back) => {
    const wire = encodeRun(task(state), runFacts);
    expect([wire.status, decodeRun(JSON.parse(JSON.stringify(wire)), facts).status.state]).toEqual([status, back]);
  });

  test("has as many messages as counted without encoding", () => {
    const message = newEnvelope({ content: "the end", src: "echo", dst: "me", context: {} }, { now: () => 0, newId: () => "m" });
    const artifacts = [
      { id: "result", parts: [] },
      { id: "second", parts: [textPart("x")] },
    ];
    for (const state of ["working", "completed", "failed"] as const)
      for (const more of [{}, { artifacts }, { artifacts, status: { state, at: 0, message } }]) {
        const each = task(state, more);
        expect(outputLength(each)).toBe(encodeRun(each, runFacts).output.length);
      }
  });

  test("has all members, in the order of the SDK, with null for absent ones", () => {
    expect(JSON.stringify(encodeRun(task("completed"), runFacts))).toBe(
      `{"run_id":"${RUN}","agent_name":"echo","session_id":"${SESSION}","status":"completed","await_request":null,"output":[],"error":null,` +
        '"created_at":"1970-01-01T00:00:01.000Z","finished_at":"1970-01-01T00:00:02.000Z"}',
    );
  });

  test("omits a session id that is not a UUID, and reports it", () => {
    losses.length = 0;
    expect(encodeRun(task("working", { contextId: "c-1" }), runFacts).session_id).toBeNull();
    expect(losses.map(({ path }) => path)).toEqual(["task.contextId"]);
  });

  test("has no Koine members for a plain answer", () => {
    const wire = encodeRun(
      task("completed", { artifacts: [{ id: "result", parts: [{ kind: "text", text: "7408" }] }] }),
      runFacts,
    );
    expect(wire.output).toEqual([
      {
        role: "agent/echo",
        parts: [
          {
            name: null,
            content_type: "text/plain",
            content: "7408",
            content_encoding: "plain",
            content_url: null,
            metadata: null,
          },
        ],
        created_at: null,
        completed_at: null,
      },
    ]);
  });

  test("of an agent whose name is not valid in a role", () => {
    const artifacts = [{ id: "result", parts: [] }];
    expect(encodeRun(task("completed", { artifacts }), { ...runFacts, agentName: "my.agent" }).output[0]?.role).toBe("agent");
  });

  test("created for a message returns the message", () => {
    const message = {
      id: "m",
      ts: 1,
      src: "echo",
      dst: "caller",
      intent: "",
      role: "agent",
      content: [{ kind: "text", text: "pong" }],
      context: {},
      meta: {},
    } as const;
    const wire = JSON.parse(JSON.stringify(encodeReply(message, RUN, runFacts)));
    expect(decodeAnswer(wire, facts)).toMatchObject({
      kind: "message",
      message: { id: "m", content: [{ kind: "text", text: "pong" }] },
    });
    expect(decodeRun(wire, facts)).toMatchObject({ id: RUN, status: { state: "completed" } });
  });

  test("continues an open message after a question, as the SDK server does", () => {
    const reader = new RunEventReader(facts);
    const open = { role: "agent/echo", parts: [{ content: "before " }], completed_at: null };
    reader.read({ type: "run.in-progress", run: { run_id: RUN, status: "in-progress", output: [open] } });
    expect(reader.read({ type: "message.part", part: { content: "after" } })).toMatchObject([
      { kind: "artifact", artifact: { id: "result", parts: [{ text: "after" }] }, append: true },
    ]);
  });

  test("that is resumed shows its current state, and its artifacts continue", () => {
    const writer = new RunEventWriter(runFacts, "resumed");
    const artifact = { id: "result", parts: [{ kind: "text", text: "one " }] } as const;
    const [first] = writer.write({ kind: "task", task: task("working", { artifacts: [artifact] }) });
    expect(first).toMatchObject({ type: "run.in-progress", run: { output: [{ parts: [{ content: "one " }] }] } });
    const reader = new RunEventReader(facts);
    reader.read(first);
    const more = writer.write({ kind: "artifact", taskId: RUN, contextId: SESSION, artifact, append: true, last: false });
    expect(more.flatMap((event) => reader.read(JSON.parse(JSON.stringify(event))))).toMatchObject([
      { kind: "artifact", artifact: { id: "result" }, append: true },
    ]);
  });
});

test("a resume needs a mode and supports one kind", () => {
  const message = { parts: [{ content: "Paris" }] };
  expect(decodeResume({ await_resume: { type: "message", message }, mode: "async" }, facts)).toMatchObject({ mode: "async" });
  expect(() => decodeResume({ await_resume: { type: "message", message } }, facts)).toThrow("mode must be one of");
  expect(() => decodeResume({ await_resume: { type: "form", message }, mode: "sync" }, facts)).toThrow(
    "await_resume.type must be message",
  );
});

test("a card round-trips through its manifest", () => {
  const card: Card = {
    name: "echo",
    description: "echoes",
    version: "1.2.3",
    provider: { organization: "Us", url: "https://us.example" },
    documentationUrl: "https://us.example/docs",
    skills: [{ id: "s", name: "S", description: "does", tags: ["t"], examples: ["e"] }],
    inputModes: [],
    outputModes: ["text/plain"],
    capabilities: { streaming: true, push: false, extended: false, idempotentSend: true, resume: true, extensions: [] },
    security: { schemes: { key: { type: "apiKey" } }, anyOf: [{ key: [] }] },
    interfaces: [],
  };
  const manifest = JSON.parse(JSON.stringify(encodeManifest(card)));
  expect(manifest).toMatchObject({
    input_content_types: ["*/*"],
    metadata: { capabilities: [{ name: "S", description: "does" }], tags: ["t"], license: null },
  });
  const { original, ...back } = decodeManifest(manifest);
  expect(back).toEqual(card);
  expect(original?.protocol).toBe("acp");
});
