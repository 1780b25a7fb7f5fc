import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type {
  Artifact,
  Context,
  Envelope,
  Json,
  Metadata,
  Operation,
  Part,
  Proof,
  Status,
  Task,
} from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import type { DecodeFacts, Dialect } from "../dialect.js";
import { OPERATIONS, type OperationName } from "../operations.js";
import { v03 } from "./codec-0.3.js";
import { v03Proto } from "./codec-0.3-proto.js";
import { v1 } from "./codec-1.0.js";

const nothing = (): void => undefined;
const facts: DecodeFacts = { now: 1, src: "a", dst: "b", partsPerMessage: 8, reportLoss: nothing };
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const names = Object.keys(OPERATIONS) as OperationName[];
const dialects: readonly [string, Dialect][] = [
  ["1.0", v1],
  ["0.3", v03],
  ["0.3 on REST", v03Proto],
];

/** True if decoding succeeded or failed with a proper error; rethrows anything else. */
function refuses(run: () => unknown): boolean {
  try {
    run();
  } catch (thrown) {
    if (!(thrown instanceof DecodeProblem)) throw thrown;
  }
  return true;
}

// Objects with the members that a decoder reads, with random values of random types.
const members = [
  ..."message configuration metadata task statusUpdate artifactUpdate status kind id taskId contextId messageId role parts content".split(
    " ",
  ),
  ..."text raw url data file bytes uri state timestamp artifacts history artifact artifactId append lastChunk final".split(" "),
  ..."pushNotificationConfig authentication schemes scheme historyLength pageSize pageToken name parent config configs tasks".split(
    " ",
  ),
  ..."supportedInterfaces protocolBinding protocolVersion capabilities extensions securitySchemes securityRequirements security".split(
    " ",
  ),
  ..."skills tags provider additionalInterfaces transport urn:koine:envelope:1 urn:koine:failure:1 context meta proofs __proto__".split(
    " ",
  ),
];
const leaf = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    0,
    1,
    -1,
    1.5,
    "",
    "x",
    "message",
    "task",
    "text",
    "data",
    "user",
    "ROLE_USER",
    "TASK_STATE_FAILED",
    "AQID",
    "tasks/t",
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

describe.each(dialects)("%s: decoders reject invalid input and do not fail otherwise", (_, dialect) => {
  test("on any request", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), tree, (name, params) =>
        refuses(() => dialect.decodeRequest(name, wire(params), facts)),
      ),
      { numRuns: 500 },
    );
  });

  test("on any answer", () => {
    const requests: Operation[] = [
      { kind: "task.get", taskId: "t" },
      { kind: "task.list" },
      { kind: "push.get", taskId: "t", id: "p" },
      { kind: "push.list", taskId: "t" },
      { kind: "card", extended: true },
      { kind: "push.delete", taskId: "t", id: "p" },
    ];
    fc.assert(
      fc.property(fc.constantFrom(...requests), tree, (operation, result) =>
        refuses(() => dialect.decodeResult(operation, wire(result), facts)),
      ),
      { numRuns: 500 },
    );
  });

  test("on any stream item, tenant and card", () => {
    const run = (value: unknown): boolean =>
      refuses(() => dialect.decodeStreamItem(value, facts)) &&
      refuses(() => dialect.tenantOf(value)) &&
      refuses(() => dialect.decodeCard(value, new Uint8Array()));
    fc.assert(
      fc.property(tree, (value) => run(wire(value))),
      { numRuns: 500 },
    );
  });
});

const text = fc.string({ minLength: 1, maxLength: 8 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => wire(value) as Json);
const metadata: fc.Arbitrary<Metadata | undefined> = maybe(
  fc.dictionary(text, json, { minKeys: 1, maxKeys: 3 }).map((value) => wire(value) as Metadata),
);
const texts = maybe(fc.array(text, { minLength: 1, maxLength: 3 }));
const bytes = fc.uint8Array({ maxLength: 12 });
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ kind: fc.constant("text" as const), text: fc.string(), metadata }),
  fc.record({ kind: fc.constant("data" as const), data: json, metadata }),
  fc.record({ kind: fc.constant("raw" as const), bytes, mediaType: maybe(text), name: maybe(text), metadata }),
  fc.record({ kind: fc.constant("url" as const), url: fc.string(), mediaType: maybe(text), name: maybe(text), metadata }),
);
/** The members that the REST form of 0.3 can carry. */
const bare: fc.Arbitrary<Part> = part.map((one) => {
  const { metadata: _, ...rest } = one;
  return rest.kind === "data" ? { ...rest, data: { inside: rest.data } } : rest;
});
const number = fc.integer();
const context: fc.Arbitrary<Context> = fc.record({
  traceId: maybe(text),
  parentId: maybe(text),
  idempotencyKey: maybe(text),
  sessionId: maybe(text),
  taskId: maybe(text),
  priority: maybe(number),
  ttlMs: maybe(number),
  stream: maybe(fc.boolean()),
  artifactRefs: texts,
  tags: texts,
  minVersion: maybe(text),
  maxVersion: maybe(text),
});
const proof: fc.Arbitrary<Proof> = fc.record({ scheme: text, signer: text, keyId: text, signed: bytes, signature: bytes });
function arbitraries(one: fc.Arbitrary<Part>) {
  const parts = fc.array(one, { minLength: 1, maxLength: 4 });
  const envelope: fc.Arbitrary<Envelope> = fc.record({
    id: text,
    ts: number.map((ms) => ms / 1000 + 0),
    src: fc.string(),
    dst: fc.string(),
    // With an intent the extension is written, and with it time and names.
    intent: text,
    role: fc.constantFrom("user" as const, "agent" as const),
    content: parts,
    context,
    meta: fc.record({ protocolHint: maybe(text), retryCount: maybe(fc.nat()) }),
    extensions: texts,
    metadata,
    proofs: maybe(fc.array(proof, { minLength: 1, maxLength: 2 })),
    extra: metadata,
  });
  const at = fc.integer({ min: 0, max: 4_000_000_000_000 });
  const status: fc.Arbitrary<Status> = fc.oneof(
    fc.record({
      state: fc.constantFrom(
        "submitted",
        "working",
        "unknown",
        "input-required",
        "auth-required",
        "completed",
        "canceled",
        "rejected",
      ),
      at,
      message: maybe(envelope),
    }),
    fc.record({
      state: fc.constant("failed" as const),
      at,
      message: maybe(envelope),
      error: maybe(fc.record({ code: fc.constantFrom("internal" as const, "lost_place" as const), message: fc.string() })),
    }),
  );
  const artifact: fc.Arbitrary<Artifact> = fc.record({
    id: text,
    name: maybe(text),
    description: maybe(text),
    parts,
    metadata,
    extensions: texts,
  });
  const task: fc.Arbitrary<Task> = fc.record({
    id: text,
    contextId: text,
    status,
    artifacts: fc.array(artifact, { maxLength: 2 }),
    history: fc.array(envelope, { maxLength: 2 }),
    metadata,
  });
  return { envelope, status, artifact, task };
}

describe.each(dialects)("%s: round trips", (_, dialect) => {
  const { envelope, status, artifact, task } = arbitraries(dialect === v03Proto ? bare : part);

  test("envelopes", () => {
    fc.assert(
      fc.property(envelope, fc.constantFrom("answer" as const, "accepted" as const, "stream" as const), (one, delivery) => {
        const operation: Operation = { kind: "send", envelope: one, delivery, task: "auto" };
        const encoded = dialect.encodeRequest(operation, undefined, nothing);
        expect(dialect.decodeRequest(encoded?.name ?? "GetTask", wire(encoded?.params), facts)).toEqual(operation);
      }),
    );
  });

  test("tasks", () => {
    const get: Operation = { kind: "task.get", taskId: "t" };
    fc.assert(
      fc.property(task, (one) => {
        expect(dialect.decodeResult(get, wire(dialect.encodeResult(get, { kind: "task", task: one }, nothing)), facts)).toEqual({
          kind: "task",
          task: one,
        });
      }),
      { numRuns: 60 },
    );
  });

  test("stream events", () => {
    const place = { taskId: text, contextId: text, metadata };
    const event = fc.oneof(
      fc.record({ kind: fc.constant("status" as const), ...place, status }),
      fc.record({ kind: fc.constant("artifact" as const), ...place, artifact, append: fc.boolean(), last: fc.boolean() }),
      fc.record({ kind: fc.constant("message" as const), message: envelope }),
    );
    fc.assert(
      fc.property(event, (one) => {
        expect(dialect.decodeStreamItem(wire(dialect.encodeStreamItem(one, nothing)), facts)).toEqual(one);
      }),
      { numRuns: 60 },
    );
  });
});
