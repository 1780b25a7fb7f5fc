import fc from "fast-check";
import type { Artifact, Envelope, Json, Part, Task } from "../../src/index.js";

/** Messages and tasks, typical and extreme. */

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,11}$/);
const words = fc.oneof(
  word,
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("soirée 🎉", '{"not":"json"', "a\nb\r\n", " "),
);
const json = fc.jsonValue({ maxDepth: 2, depthSize: "small" }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
const metadata = fc.dictionary(word, json, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 2 });
const mediaType = fc.constantFrom("text/plain", "text/markdown", "application/json", "application/xml", "image/png");
const url = word.map((name) => `https://files.example/${name}`);

export const uuid = fc.uuid({ version: 4 });

export const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    kind: fc.constant("text" as const),
    text: words,
    mediaType: maybe(mediaType),
    name: maybe(word),
    metadata: maybe(metadata),
  }),
  fc.record({
    kind: fc.constant("data" as const),
    data: json,
    mediaType: maybe(mediaType),
    name: maybe(word),
    metadata: maybe(metadata),
  }),
  fc.record({
    kind: fc.constant("raw" as const),
    bytes: fc.uint8Array({ maxLength: 64 }),
    mediaType: maybe(mediaType),
    name: maybe(word),
    metadata: maybe(metadata),
  }),
  fc.record({
    kind: fc.constant("url" as const),
    url,
    mediaType: maybe(mediaType),
    name: maybe(word),
    metadata: maybe(metadata),
  }),
);
const parts = fc.array(part, { minLength: 1, maxLength: 4 });

/** A message of a caller, without a task: tasks are tested separately. */
export const message: fc.Arbitrary<Envelope> = fc.record({
  id: uuid,
  ts: fc.constant(1_767_323_045.678),
  src: word,
  dst: word,
  intent: fc.oneof(fc.constant(""), word),
  role: fc.constant("user" as const),
  content: parts,
  context: fc.record({
    traceId: maybe(fc.stringMatching(/^[0-9a-f]{31}[1-9a-f]$/)),
    parentId: maybe(word),
    idempotencyKey: maybe(word),
    sessionId: maybe(fc.oneof(uuid, word)),
    priority: maybe(fc.integer({ min: 0, max: 9 })),
    ttlMs: maybe(fc.integer({ min: 1, max: 100_000 })),
    artifactRefs: maybe(fc.array(url, { minLength: 1, maxLength: 2 })),
    tags: maybe(fc.array(word, { minLength: 1, maxLength: 3 })),
    minVersion: maybe(fc.constant("0.1")),
    maxVersion: maybe(fc.constant("9.0")),
  }),
  meta: fc.record({ protocolHint: fc.constant(undefined), retryCount: maybe(fc.integer({ min: 0, max: 5 })) }),
  references: maybe(fc.array(uuid, { minLength: 1, maxLength: 2 })),
  extensions: maybe(fc.array(url, { minLength: 1, maxLength: 2 })),
  metadata: maybe(metadata),
});

const artifact: fc.Arbitrary<Artifact> = fc.record({
  id: word,
  name: maybe(word),
  description: maybe(word),
  parts,
  metadata: maybe(metadata),
  extensions: maybe(fc.array(url, { minLength: 1, maxLength: 1 })),
});

/** The members of an agent's message, without the link to its request. */
export const agentContent: fc.Arbitrary<Pick<Envelope, "content" | "metadata">> = fc.record({
  content: parts,
  metadata: maybe(metadata),
});

/** A task that has ended, as the answer to a send. */
export const ended: fc.Arbitrary<
  Pick<Task, "artifacts" | "metadata"> & { readonly state: "completed" | "failed" | "canceled" | "rejected" }
> = fc.record({
  state: fc.constantFrom("completed" as const, "failed" as const, "canceled" as const, "rejected" as const),
  artifacts: fc.uniqueArray(artifact, { maxLength: 3, selector: ({ id }) => id }),
  metadata: maybe(metadata),
});
