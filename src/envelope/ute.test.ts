import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Envelope } from "./envelope.js";
import { AgentError } from "./error.js";
import type { Json } from "./json.js";
import { dataPart, type Part, textPart } from "./part.js";
import { sameTrace } from "./trace.js";
import { formatUte, parseUte, readUte, writeUte } from "./ute.js";

/** The sample G.1 of the UTE specification, white space removed. */
const SAMPLE =
  '{"id":"uuid-v4","ts":1730000000.123,"src":"agent_A","dst":"agent_B","intent":"qa/search","content":{"question":"..."},' +
  '"context":{"trace_id":"uuid-v4","parent_id":"uuid-v4","idempotency_key":"uuid-v4","session_id":"s-123","priority":0,' +
  '"ttl_ms":30000,"stream":false,"artifact_refs":["uri://..."],"tags":["GAIA","docqa"]},' +
  '"meta":{"protocol_hint":"a2a|acp|anp|agora","retry_count":0}}';
/** The router's sample G.9, as printed there. */
const ROUTER_SAMPLE = `{ "id": "uuid-v4", "ts": 1730000000.1, "src": "A", "dst": "B",
  "intent": "qa/search",
  "content": { "question": "..." },
  "context": {
    "trace_id": "uuid-v4", "parent_id": "uuid-v4",
    "idempotency_key": "uuid-v4", "session_id": "s-1",
    "priority": 0, "ttl_ms": 30000, "stream": false,
    "artifact_refs": ["uri://..."], "tags": ["GAIA", "docqa"]
  },
  "meta": { "protocol_hint": "a2a|acp|anp|agora", "retry_count": 0 } }`;
const MINIMAL = { src: "a", dst: "b", content: { question: "?" }, context: {} };

/** JSON with the members of every object in order. */
function ordered(text: string): string {
  const sort = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sort);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([k, v]) => [k, sort(v)]),
    );
  };
  return JSON.stringify(sort(JSON.parse(text)));
}

function rewritten(document: unknown): unknown {
  return JSON.parse(JSON.stringify(writeUte(readUte(document))));
}

/** Written by a call of its own, as a date is. */
function inCall(value: unknown): { toJSON(): unknown } {
  return { toJSON: () => [value] };
}

function failure(run: () => unknown): AgentError {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof AgentError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}

describe("the samples of the UTE specification", () => {
  test("round-trip byte for byte, in the original member order", () => {
    expect(formatUte(parseUte(SAMPLE))).toBe(SAMPLE);
    expect(ordered(formatUte(parseUte(ROUTER_SAMPLE)))).toBe(ordered(ROUTER_SAMPLE));
  });

  test("read into the envelope", () => {
    expect(parseUte(SAMPLE)).toEqual({
      id: "uuid-v4",
      ts: 1730000000.123,
      src: "agent_A",
      dst: "agent_B",
      intent: "qa/search",
      role: "user",
      content: [{ kind: "data", data: { question: "..." } }],
      context: {
        traceId: "uuid-v4",
        parentId: "uuid-v4",
        idempotencyKey: "uuid-v4",
        sessionId: "s-123",
        priority: 0,
        ttlMs: 30000,
        stream: false,
        artifactRefs: ["uri://..."],
        tags: ["GAIA", "docqa"],
      },
      meta: { protocolHint: "a2a|acp|anp|agora", retryCount: 0 },
    });
  });
});

describe("readUte()", () => {
  test("needs no more than src, dst, content and context", () => {
    expect(readUte(MINIMAL)).toMatchObject({ id: "", ts: 0, intent: "", meta: {} });
    expect(rewritten(MINIMAL)).toEqual(MINIMAL);
  });

  for (const [field, document] of [
    ["", null],
    ["", [MINIMAL]],
    ["src", { ...MINIMAL, src: undefined }],
    ["src", { ...MINIMAL, src: 7 }],
    ["dst", { ...MINIMAL, dst: null }],
    ["content", { ...MINIMAL, content: undefined }],
    ["content", { ...MINIMAL, content: ["x"] }],
    ["content", { ...MINIMAL, content: 5 }],
    ["context", { ...MINIMAL, context: undefined }],
    ["context", { ...MINIMAL, context: [] }],
    ["id", { ...MINIMAL, id: 1 }],
    ["ts", { ...MINIMAL, ts: "2024-10-27" }],
    ["ts", { ...MINIMAL, ts: Number.POSITIVE_INFINITY }],
    ["meta", { ...MINIMAL, meta: "x" }],
    ["meta.retry_count", { ...MINIMAL, meta: { retry_count: -1 } }],
    ["context.trace_id", { ...MINIMAL, context: { trace_id: 1 } }],
    ["context.ttl_ms", { ...MINIMAL, context: { ttl_ms: -1 } }],
    ["context.stream", { ...MINIMAL, context: { stream: "yes" } }],
    ["context.artifact_refs", { ...MINIMAL, context: { artifact_refs: "uri://x" } }],
    ["context.tags", { ...MINIMAL, context: { tags: ["a", 1] } }],
  ] as const)
    test(`names ${field || "the envelope"} in ${JSON.stringify(document)}`, () => {
      expect(failure(() => readUte(document))).toMatchObject({ code: "invalid_message", facts: { field } });
    });

  test("keeps a trace id in the form it has", () => {
    const uuid = "4BF92F35-77B3-4da6-a3ce-929d0e0e4736";
    const hex = "4bf92f3577b34da6a3ce929d0e0e4736";
    expect(rewritten({ ...MINIMAL, context: { trace_id: uuid } })).toEqual({ ...MINIMAL, context: { trace_id: uuid } });
    expect(rewritten({ ...MINIMAL, context: { trace_id: hex } })).toEqual({ ...MINIMAL, context: { trace_id: hex } });
    expect(sameTrace(uuid, hex)).toBe(true);
  });

  test("keeps unknown members in place without interpreting them", () => {
    const text =
      '{"src":"a","dst":"b","content":{"__proto__":{"x":1}},"context":{"zone":"eu","__proto__":{"traceId":"t"}},' +
      '"meta":{"cost":{"usd":1}},"note":[1,null],"__proto__":{"role":"agent"}}';
    const envelope = parseUte(text);
    expect(envelope.role).toBe("user");
    expect(envelope.context.traceId).toBeUndefined();
    expect(ordered(formatUte(envelope))).toBe(ordered(text));
  });

  test("distinguishes nulls, defaults and empty groups from absent members", () => {
    for (const members of [
      { id: null, ts: null, intent: null, meta: null },
      { id: "", ts: 0, intent: "", meta: {} },
      { role: "user", meta: { protocol_hint: null } },
      { context: { parent_id: null, artifact_refs: [], session_id: "" } },
    ])
      expect(rewritten({ ...MINIMAL, ...members })).toEqual({ ...MINIMAL, ...members });
  });

  test("keeps members with Koine's names but another format as unknown", () => {
    const foreign = { ...MINIMAL, role: "assistant", metadata: "m", references: 1, proofs: [{ alg: "x" }] };
    const envelope = readUte(foreign);
    expect(envelope).toMatchObject({ role: "user", metadata: undefined, references: undefined, proofs: undefined });
    expect(rewritten(foreign)).toEqual(foreign);
  });

  test("reports that text is not JSON", () => {
    expect(failure(() => parseUte("{")).code).toBe("decode");
  });
});

const BASE: Envelope = {
  id: "1",
  ts: 1.5,
  src: "a",
  dst: "b",
  intent: "",
  role: "user",
  content: [textPart("hi")],
  context: {},
  meta: {},
};
const written = (...content: readonly Part[]): Json | undefined => writeUte({ ...BASE, content })["content"];

describe("content", () => {
  test("is a plain object where UTE can express it", () => {
    expect(written(textPart("hi"))).toEqual({ text: "hi" });
    expect(written(dataPart({ question: "?" }))).toEqual({ question: "?" });
    expect(written(dataPart({ text: "hi", lang: "en" }))).toEqual({ text: "hi", lang: "en" });
    expect(written(dataPart({ text: 5 }))).toEqual({ text: 5 });
  });

  test("is a marked list for everything else", () => {
    const parts: readonly Part[] = [
      { kind: "text", text: "a", mediaType: "text/markdown" },
      { kind: "data", data: null, name: "n" },
      { kind: "raw", bytes: new Uint8Array([0, 255, 16]), metadata: { k: 1 } },
      { kind: "url", url: "https://example.org/x" },
    ];
    const list = {
      "urn:koine:parts:1": [
        { text: "a", media_type: "text/markdown" },
        { data: null, name: "n" },
        { raw: "AP8Q", metadata: { k: 1 } },
        { url: "https://example.org/x" },
      ],
    };
    expect(written(...parts)).toEqual(list);
    expect(readUte({ ...MINIMAL, content: list }).content).toEqual(parts);
    expect(written()).toEqual({ "urn:koine:parts:1": [] });
  });

  test("never mistakes an author's object for a Koine format", () => {
    for (const data of [{ text: "hi" }, { "urn:koine:parts:1": [] }, { "urn:koine:parts:1": 5 }]) {
      expect(written(dataPart(data))).toEqual({ "urn:koine:parts:1": [{ data }] });
      expect(readUte(writeUte({ ...BASE, content: [dataPart(data)] })).content).toEqual([{ kind: "data", data }]);
    }
  });

  test("may be a bare string", () => {
    expect(readUte({ ...MINIMAL, content: "hi" }).content).toEqual([{ kind: "text", text: "hi" }]);
  });

  for (const [field, list] of [
    ['content["urn:koine:parts:1"]', 5],
    ['content["urn:koine:parts:1"][0]', [null]],
    ['content["urn:koine:parts:1"][0]', [{}]],
    ['content["urn:koine:parts:1"][0]', [{ text: "a", url: "b" }]],
    ['content["urn:koine:parts:1"][0]', [{ text: "a", mediaType: "b" }]],
    ['content["urn:koine:parts:1"][1].raw', [{ text: "a" }, { raw: "AP8" }]],
    ['content["urn:koine:parts:1"][0].raw', [{ raw: "AP9=" }]],
    ['content["urn:koine:parts:1"][0].name', [{ data: 1, name: 2 }]],
    ['content["urn:koine:parts:1"][0].metadata', [{ data: 1, metadata: [] }]],
  ] as const)
    test(`refuses the list ${JSON.stringify(list)}`, () => {
      const document = { ...MINIMAL, content: { "urn:koine:parts:1": list } };
      expect(failure(() => readUte(document))).toMatchObject({ code: "invalid_message", facts: { field } });
    });

  test("has at most 256 listed parts", () => {
    const content = { "urn:koine:parts:1": Array.from({ length: 257 }, () => ({ text: "" })) };
    expect(failure(() => readUte({ ...MINIMAL, content })).code).toBe("too_large");
  });
});

describe("writeUte()", () => {
  test("writes additional members under documented names", () => {
    const envelope: Envelope = {
      ...BASE,
      role: "agent",
      context: { taskId: "t", minVersion: "0.3", maxVersion: "1.0" },
      references: ["t0"],
      extensions: ["urn:x"],
      metadata: { m: 1 },
      proofs: [{ scheme: "s", signer: "did:x", keyId: "k", signed: new Uint8Array([1]), signature: new Uint8Array([2, 3]) }],
    };
    const document = {
      id: "1",
      ts: 1.5,
      src: "a",
      dst: "b",
      content: { text: "hi" },
      context: { task_id: "t", min_version: "0.3", max_version: "1.0" },
      role: "agent",
      references: ["t0"],
      extensions: ["urn:x"],
      metadata: { m: 1 },
      proofs: [{ scheme: "s", signer: "did:x", key_id: "k", signed: "AQ==", signature: "AgM=" }],
    };
    expect(writeUte(envelope)).toEqual(document);
    expect(readUte(document)).toEqual(envelope);
  });

  test("rejects content of 1 MB and accepts one byte less", () => {
    expect(failure(() => written(textPart("x".repeat(1_000_000))))).toMatchObject({
      code: "too_large",
      facts: { field: "content" },
    });
    expect(written(textPart("x".repeat(999_999)))).toBeDefined();
    expect(failure(() => written(textPart("é".repeat(500_000)))).code).toBe("too_large");
  });

  test("lets a value of the envelope win over a member kept from a document", () => {
    const envelope = readUte({ ...MINIMAL, intent: "", context: { parent_id: null } });
    const document = writeUte({ ...envelope, intent: "ask", context: { ...envelope.context, parentId: "p" } });
    expect(document).toEqual({ ...MINIMAL, intent: "ask", context: { parent_id: "p" } });
  });

  test("reports values that cannot be JSON instead of crashing", () => {
    const cycle: Json[] = [];
    cycle.push(cycle);
    expect(failure(() => written(dataPart(cycle))).code).toBe("encode");
    // Each level is a call, so the stack ends on every engine; plain lists in lists end it only before Node 26.
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = inCall(deep);
    expect(failure(() => written(dataPart(deep as Json))).code).toBe("encode");
    expect(failure(() => writeUte({ ...BASE, ts: Number.NaN })).code).toBe("encode");
  });
});

describe("any document", () => {
  const json = fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
  const text = fc.string({ unit: "grapheme" });
  const maybe = { requiredKeys: [] as [] };
  const strings = fc.array(text, { maxLength: 3 });
  const ts = fc.integer({ min: 0, max: 2_000_000_000_000 }).map((ms) => ms / 1000);
  const contextMembers = fc.record(
    {
      trace_id: fc.oneof(fc.uuid(), text),
      parent_id: fc.option(text),
      idempotency_key: text,
      session_id: text,
      priority: fc.integer(),
      ttl_ms: fc.nat(),
      stream: fc.boolean(),
      artifact_refs: strings,
      tags: strings,
      task_id: json,
      min_version: text,
    },
    maybe,
  );
  const metaMembers = fc.record({ protocol_hint: text, retry_count: fc.nat() }, maybe);
  const extras = fc.dictionary(fc.oneof(text, fc.constantFrom("__proto__", "constructor", "toString")), json, { maxKeys: 3 });
  const listed = fc
    .array(fc.oneof(fc.record({ text, name: text }), fc.record({ data: json }), fc.constant({ raw: "AP8Q" })), { minLength: 2 })
    .map((parts) => ({ "urn:koine:parts:1": parts }));
  const content = fc.oneof(fc.record({ text }), extras, listed);
  const documents = fc
    .tuple(
      extras,
      fc.record(
        { id: text, ts, intent: text, role: json, metadata: json, references: json, proofs: json, meta: metaMembers },
        { requiredKeys: [] },
      ),
      fc.record({ src: text, dst: text, content }),
      fc.tuple(extras, contextMembers),
    )
    .map(([extra, some, must, [zone, context]]) =>
      JSON.parse(JSON.stringify({ ...extra, ...some, ...must, context: { ...zone, ...context } })),
    )
    .filter((document) => !("meta" in document) || typeof document.meta === "object");

  test("round-trips", () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(ordered(formatUte(readUte(document)))).toBe(ordered(JSON.stringify(document)));
      }),
    );
  });

  test("is read, or refused with an AgentError", () => {
    const anything = fc.oneof(
      json,
      fc.record({ src: json, dst: json, content: json, context: json, meta: json, id: json, ts: json }, maybe),
      fc.record({ src: text, dst: text, content: fc.record({ "urn:koine:parts:1": json }), context: json }),
    );
    const outcome = (document: unknown): unknown => {
      try {
        return readUte(document).role;
      } catch (thrown) {
        return thrown;
      }
    };
    fc.assert(
      fc.property(anything, (document) => {
        expect(outcome(document)).toSatisfy((got) => got === "user" || got === "agent" || got instanceof AgentError);
      }),
    );
  });
});
