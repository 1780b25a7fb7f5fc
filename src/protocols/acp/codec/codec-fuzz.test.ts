import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AgentError,
  type AgentEvent,
  type Artifact,
  type Context,
  type Envelope,
  ERRORS,
  type ErrorCode,
  type Json,
  type Metadata,
  type OperationOf,
  type Part,
  type Status,
  type Task,
  type TaskEvent,
  TaskFold,
} from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { NestedJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import {
  type CodecFacts,
  decodeAnswer,
  decodeManifest,
  decodeResume,
  decodeRun,
  decodeRunRequest,
  encodeResume,
  encodeRun,
  encodeRunRequest,
  RunEventReader,
  RunEventWriter,
  sendOf,
} from "../codec.js";
import { KOINE_KEY } from "./koine-members.js";

const nothing = (): void => undefined;
const SESSION = "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11";
const RUN = "0f5c1a52-5b9e-4c9e-9a4e-3f2d7a1b6c11";
let count = 0;
const facts: CodecFacts = {
  now: 1_700_000_000_000,
  newId: () => `id-${++count}`,
  src: "a",
  dst: "b",
  partsPerMessage: 8,
  nested: new NestedJson(DEFAULT_LIMITS),
  reportLoss: nothing,
};
const runFacts = { agentName: "tariff-check", createdAt: 1_600_000_000_000, reportLoss: nothing };
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** True if decoding succeeded or failed with a proper error; rethrows anything else. */
function refuses(run: () => unknown): boolean {
  try {
    run();
  } catch (thrown) {
    if (!(thrown instanceof DecodeProblem) && !(thrown instanceof AgentError)) throw thrown;
  }
  return true;
}

// Objects with the members that a decoder reads, with random values of random types.
const members = [
  ..."agent_name input session_id session mode await_resume type message role parts created_at completed_at name".split(" "),
  ..."content_type content content_encoding content_url metadata kind start_index tool_input run run_id status".split(" "),
  ..."await_request output error code data state created_at finished_at part generic events history id agents".split(" "),
  ..."description input_content_types capabilities tags links author said none artifact last append mediaType".split(" "),
  ...[KOINE_KEY, "__proto__", "constructor", "skills", "security", "schemes", "anyOf", "extensions", "extra", "context"],
];
const leaf = fc.oneof(
  fc.constantFrom<Json>(
    ...[null, true, 0, -1, 1.5, "", "x", "user", "agent/x", "message", "message.part", "message.completed", "run.completed"],
    ...["generic", "completed", "failed", "awaiting", "text/plain", "application/json", "base64", "AQID", "citation"],
    ...[SESSION, RUN, "2026-01-02T03:04:05Z", "reply", "auth-required", "sync"],
  ),
  fc.jsonValue(),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...members), tie("tree"), { maxKeys: 6 }),
  ),
}));

describe("decoders reject invalid input and do not fail otherwise", () => {
  const decoders: readonly [string, (value: unknown) => unknown][] = [
    ["a request", (value) => sendOf(decodeRunRequest(value, facts))],
    ["a message of a request", (value) => sendOf(decodeRunRequest({ agent_name: "x", input: [value] }, facts))],
    ["a resume", (value) => decodeResume(value, facts)],
    ["a run", (value) => decodeRun(value, facts)],
    ["the output of a run", (value) => decodeAnswer({ run_id: RUN, status: "failed", output: [value], error: value }, facts)],
    ["what a run waits for", (value) => decodeRun({ run_id: RUN, status: "awaiting", await_request: value }, facts)],
    ["a manifest", (value) => decodeManifest(value)],
    ["what rides on a manifest", (value) => decodeManifest({ name: "x", metadata: { [KOINE_KEY]: value } })],
  ];
  test.each(decoders)("%s", (_, decode) => {
    fc.assert(
      fc.property(tree, (value) => refuses(() => decode(wire(value)))),
      { numRuns: 500 },
    );
  });

  test("the events of a run", () => {
    const created = { type: "run.created", run: { run_id: RUN, status: "created" } };
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 4 }), (items) => {
        const reader = new RunEventReader(facts);
        reader.read(created);
        return items.every((item) => refuses(() => reader.read(wire(item))));
      }),
      { numRuns: 500 },
    );
  });

  test("the envelope header", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          tree.map((value) => Buffer.from(JSON.stringify(value)).toString("base64url")),
        ),
        (header) =>
          refuses(() => decodeRunRequest({ agent_name: "x", input: [] }, { ...facts, headers: { "koine-envelope": header } })),
      ),
      { numRuns: 500 },
    );
  });
});

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
// JSON.parse produces neither -0 nor undefined members.
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => wire(value) as Json);
const metadata: fc.Arbitrary<Metadata | undefined> = maybe(
  fc
    .dictionary(fc.constantFrom("own", "citation", "trajectory", "acp", "kind"), json, { maxKeys: 3 })
    .map((value) => wire(value) as Metadata),
);
const fields = {
  mediaType: maybe(
    fc.constantFrom(
      "",
      "text/plain",
      "text/markdown",
      "application/json",
      "application/vnd.x+json",
      "image/png",
      "application/octet-stream",
    ),
  ),
  name: maybe(fc.string()),
  metadata,
};
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    kind: fc.constant("text" as const),
    text: fc.oneof(fc.string(), fc.constantFrom("", "{}", "[1]", "null")),
    ...fields,
  }),
  fc.record({ kind: fc.constant("data" as const), data: json, ...fields }),
  fc.record({ kind: fc.constant("raw" as const), bytes: fc.uint8Array({ maxLength: 9 }), ...fields }),
  fc.record({ kind: fc.constant("url" as const), url: fc.webUrl(), ...fields }),
);
const parts = fc.array(part, { minLength: 1, maxLength: 4 });
const milliseconds = fc.integer({ min: 0, max: 4_000_000_000_000 });
const free: fc.Arbitrary<Omit<Context, "sessionId" | "taskId">> = fc.record({
  traceId: maybe(fc.string()),
  parentId: maybe(fc.string()),
  idempotencyKey: maybe(fc.string({ minLength: 1 })),
  priority: maybe(fc.integer()),
  ttlMs: maybe(fc.nat()),
  stream: maybe(fc.boolean()),
  artifactRefs: maybe(fc.array(fc.string(), { maxLength: 2 })),
  tags: maybe(fc.array(fc.string(), { maxLength: 2 })),
  minVersion: maybe(fc.string()),
  maxVersion: maybe(fc.string()),
});

function envelopes(role: Envelope["role"], context: fc.Arbitrary<Context>): fc.Arbitrary<Envelope> {
  return fc.record({
    id: fc.string(),
    ts: milliseconds.map((ms) => ms / 1000),
    src: fc.string(),
    dst: fc.string(),
    intent: fc.string(),
    role: fc.constant(role),
    content: parts,
    context,
    meta: fc.record({ protocolHint: maybe(fc.string()), retryCount: maybe(fc.nat()) }),
    references: maybe(fc.array(fc.string(), { maxLength: 2 })),
    extensions: maybe(fc.array(fc.string(), { maxLength: 2 })),
    metadata: maybe(fc.dictionary(fc.string(), json, { maxKeys: 2 }).map((value) => wire(value) as Metadata)),
    proofs: fc.constant(undefined),
    extra: maybe(fc.constant<Metadata>({ unknown: { member: [1] } })),
  });
}

const requests = envelopes(
  "user",
  free.map((context) => ({ ...context, sessionId: SESSION, taskId: undefined })),
);
/** Parts never carry trace and key; the parent of an answer is the answered message. */
const sent = envelopes(
  "agent",
  free.map((context) => ({
    ...context,
    traceId: undefined,
    idempotencyKey: undefined,
    parentId: undefined,
    sessionId: SESSION,
    taskId: RUN,
  })),
);

describe("a message", () => {
  const sends = (envelope: Envelope): OperationOf<"send"> => ({ kind: "send", envelope, delivery: "answer", task: "auto" });

  test("to an agent round-trips, through body and headers", () => {
    fc.assert(
      fc.property(requests, (envelope) => {
        const { body, headers } = encodeRunRequest(sends(envelope), "tariff-check", SESSION, nothing);
        const request = decodeRunRequest(wire(body), { ...facts, headers });
        expect(request).toMatchObject({ agentName: "tariff-check", mode: "sync", sessionId: SESSION });
        expect(sendOf(request).envelope).toEqual(envelope);
      }),
      { numRuns: 1_000 },
    );
  });

  test("to an awaiting run round-trips", () => {
    fc.assert(
      fc.property(requests, (envelope) => {
        const { body, headers } = encodeResume({ ...sends(envelope), delivery: "stream" }, RUN, nothing);
        const { mode, message } = decodeResume(wire(body), { ...facts, headers, contextId: SESSION });
        expect([mode, message]).toEqual(["stream", envelope]);
      }),
    );
  });
});

const statuses: fc.Arbitrary<Status> = fc.oneof(
  fc.record({
    state: fc.constantFrom("completed" as const, "canceled" as const, "rejected" as const),
    at: milliseconds,
    message: maybe(sent),
  }),
  fc.record({
    state: fc.constant("failed" as const),
    at: milliseconds,
    message: maybe(sent),
    error: maybe(
      fc.record({
        code: fc.constantFrom(...(Object.keys(ERRORS) as ErrorCode[])),
        message: fc.string({ minLength: 1, maxLength: 40 }),
      }),
    ),
  }),
  fc.record({
    state: fc.constantFrom("input-required" as const, "auth-required" as const),
    at: fc.constant(facts.now),
    message: maybe(sent),
  }),
  fc.record({
    state: fc.constantFrom("working" as const, "canceling" as const),
    at: fc.constant(facts.now),
    message: fc.constant(undefined),
  }),
  fc.record({ state: fc.constant("submitted" as const), at: fc.constant(runFacts.createdAt), message: fc.constant(undefined) }),
);
const artifact: fc.Arbitrary<Artifact> = fc.record({
  id: fc.constantFrom("result", "result-2", "a", "b", "c"),
  name: maybe(fc.string()),
  description: maybe(fc.string()),
  parts: fc.array(part, { maxLength: 3 }),
  metadata: maybe(fc.constant<Metadata>({ own: [1] })),
  extensions: maybe(fc.array(fc.string(), { minLength: 1, maxLength: 2 })),
});
const artifacts = fc.uniqueArray(artifact, { selector: ({ id }) => id, maxLength: 4 });
const tasks: fc.Arbitrary<Task> = fc.record({
  id: fc.constant(RUN),
  contextId: fc.constant(SESSION),
  status: statuses,
  artifacts,
  history: fc.constant([]),
  metadata: fc.constant(undefined),
});

describe("a task", () => {
  test("round-trips through its run", () => {
    fc.assert(
      fc.property(tasks, (task) => {
        expect(decodeRun(wire(encodeRun(task, runFacts)), facts)).toEqual(task);
      }),
      { numRuns: 1_000 },
    );
  });

  test("round-trips through its events, however its artifacts grew", () => {
    const begun: Task = {
      id: RUN,
      contextId: SESSION,
      status: { state: "submitted", at: runFacts.createdAt },
      artifacts: [],
      history: [],
    };
    // An artifact has one name and one description, however many chunks it has.
    const of = (id: string, pieces: readonly Part[]): Artifact =>
      id.startsWith("result") ? { id, parts: pieces } : { id, parts: pieces, name: `/${id}`, description: id, metadata: { id } };
    const grown = fc
      .tuple(fc.constantFrom("result", "result-2", "a", "b"), fc.array(part, { maxLength: 3 }))
      .map(([id, pieces]) => of(id, pieces));
    const chunk = fc.record({ artifact: grown, append: fc.boolean(), last: fc.boolean() });
    const ends = statuses.filter(({ state }) => state !== "submitted" && state !== "canceling");
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 6 }), ends, maybe(sent), metadata, (chunks, status, message, progress) => {
        const log: TaskEvent[] = [
          { kind: "task", task: begun },
          { kind: "status", taskId: RUN, contextId: SESSION, status: { state: "working", at: facts.now } },
          { kind: "status", taskId: RUN, contextId: SESSION, status: { state: "working", at: 7, message }, metadata: progress },
          ...chunks.map((each): TaskEvent => ({ kind: "artifact", taskId: RUN, contextId: SESSION, ...each })),
          { kind: "status", taskId: RUN, contextId: SESSION, status },
        ];
        const writer = new RunEventWriter(runFacts);
        const reader = new RunEventReader(facts);
        const read = log.flatMap((event) => writer.write(event)).flatMap((event) => reader.read(wire(event)));
        expect(folded(read)).toEqual(folded(log));
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The final task. Members of an append other than its parts are not kept. */
function folded(events: readonly AgentEvent[]): Task {
  const fold = new TaskFold({ id: "", contextId: "", status: { state: "unknown", at: 0 }, artifacts: [], history: [] });
  for (const event of events) fold.apply(event as TaskEvent); // a run has no other
  return fold.snapshot();
}
