import {
  type Context,
  dataPart,
  type Envelope,
  isObject,
  type Json,
  type JsonObject,
  type LossSink,
  type Maybe,
  type OperationOf,
  type Part,
  textOf,
  textPart,
  writeUte,
} from "../../../envelope/index.js";
import {
  DecodeProblem,
  optional,
  readArray,
  readBoolean,
  readInteger,
  readObject,
  readString,
  readStrings,
} from "../../../transport/fields.js";
import { keyOfRequestId } from "../../request-id-key.js";
import { readKindPart, writeKindPart } from "../codec/part-0.3.js";

/** The seed's request (Table 8, G.7): `{id, params: {message, context, routing}}`, with `meta` passed through. */
export function encodePlainRequest({ envelope }: OperationOf<"send">, reportLoss: LossSink): JsonObject {
  const { id, src, dst } = envelope;
  reportMemberLosses(envelope, reportLoss);
  // The names of the envelope's own document are those of the seed.
  const { context, meta } = writeUte({ ...envelope, content: [], extra: undefined });
  const message = encodeContent(envelope, reportLoss);
  return { id, params: { message, context, routing: { destination: dst, source: src }, meta } };
}

/** Text as `{text}`, one object as it is; anything else as parts of A2A 0.3, which reference agents read. */
function encodeContent({ id, content }: Envelope, reportLoss: LossSink): JsonObject {
  const [only] = content;
  if (content.length === 1 && only !== undefined && isBare(only)) {
    if (only.kind === "text") return { text: only.text };
    if (only.kind === "data" && isObject(only.data) && !isReadOtherwise(only.data)) return only.data;
  }
  const text = textOf(content);
  return {
    messageId: id,
    role: "user",
    ...(text === "" ? undefined : { text }),
    parts: content.map((part, index) => writeKindPart(part, `message.parts[${index}]`, reportLoss)),
  };
}

function isBare({ name, mediaType, metadata }: Part): boolean {
  return name === undefined && mediaType === undefined && metadata === undefined;
}

function isReadOtherwise(data: JsonObject): boolean {
  const names = Object.keys(data);
  return names.length === 0 || "parts" in data || (names.length === 1 && "text" in data);
}

const UNCARRIED = ["references", "extensions", "metadata", "extra"] as const;

function reportMemberLosses(envelope: Envelope, reportLoss: LossSink): void {
  const report = (path: string, value: unknown): void =>
    reportLoss({
      protocol: "a2a",
      path: `message.${path}`,
      valueKind: typeof value,
      reason: "the plain form has no member for it",
    });
  for (const name of UNCARRIED) if (envelope[name] !== undefined) report(name, envelope[name]);
  if (envelope.intent !== "") report("intent", envelope.intent);
}

export interface PlainFacts {
  readonly now: number;
  newId(): string;
  readonly src: string;
  readonly dst: string;
}

/** Table 8 of the seed, field by field. Throws DecodeProblem. */
export function decodePlainRequest(body: unknown, facts: PlainFacts): Envelope {
  const wire = readObject(body, "body");
  const params = readObject(wire["params"], "params");
  const routing = optional(params["routing"], "params.routing", readObject);
  const meta = optional(params["meta"], "params.meta", readObject);
  const id = optional(wire["id"], "id", readString);
  const context = decodeContext(optional(params["context"], "params.context", readObject));
  return {
    id: id ?? facts.newId(),
    ts: facts.now / 1000,
    src: optional(routing?.["source"], "params.routing.source", readString) ?? facts.src,
    dst: optional(routing?.["destination"], "params.routing.destination", readString) ?? facts.dst,
    intent: "",
    role: "user",
    content: decodeContent(params["message"]),
    context: context.idempotencyKey === undefined ? { ...context, idempotencyKey: keyOfRequestId(id) } : context,
    meta: {
      protocolHint: optional(meta?.["protocol_hint"], "params.meta.protocol_hint", readString),
      retryCount: optional(meta?.["retry_count"], "params.meta.retry_count", readInteger),
    },
  };
}

function decodeContext(wire: Maybe<JsonObject>): Context {
  if (wire === undefined) return {};
  const text = (name: string): Maybe<string> => optional(wire[name], `params.context.${name}`, readString);
  const whole = (name: string): Maybe<number> => optional(wire[name], `params.context.${name}`, readInteger);
  const list = (name: string): Maybe<readonly string[]> => optional(wire[name], `params.context.${name}`, readStrings);
  return {
    traceId: text("trace_id"),
    parentId: text("parent_id"),
    idempotencyKey: text("idempotency_key"),
    sessionId: text("session_id"),
    taskId: text("task_id"),
    priority: whole("priority"),
    ttlMs: whole("ttl_ms"),
    stream: optional(wire["stream"], "params.context.stream", readBoolean),
    artifactRefs: list("artifact_refs"),
    tags: list("tags"),
    minVersion: text("min_version"),
    maxVersion: text("max_version"),
  };
}

/** `{"text": …}` is one text part, `{"parts": …}` a list; any other object is one data part. */
function decodeContent(value: unknown): readonly Part[] {
  const wire = readObject(value, "params.message");
  if (Array.isArray(wire["parts"])) return readArray(wire["parts"], "params.message.parts", decodePart);
  const keys = Object.keys(wire);
  if (keys.length === 1 && keys[0] === "text") return [textPart(readString(wire["text"], "params.message.text"))];
  if (keys.length === 0) throw new DecodeProblem("params.message", "is empty");
  return [dataPart(wire)];
}

/** Reference clients write the content, whatever it is, as `{"type": "json", "text": …}`. */
function decodePart(value: unknown, path: string): Part {
  const part = readObject(value, path);
  if (part["type"] !== "json") return readKindPart(part, path);
  const content = part["text"] as Maybe<Json>; // parsed from JSON
  return typeof content === "string" ? textPart(content) : dataPart(content ?? null);
}
