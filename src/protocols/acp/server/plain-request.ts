import {
  AgentError,
  dataPart,
  type Envelope,
  isObject,
  type Json,
  type JsonObject,
  type Maybe,
  type Part,
  parseTraceparent,
  readUte,
  textPart,
} from "../../../envelope/index.js";
import type { HttpHeaders } from "../../../transport/exchange.js";
import { DecodeProblem, optional, readArray, readBoolean, readObject, readString } from "../../../transport/fields.js";
import { keyOfRequestId } from "../../request-id-key.js";
import { type CodecFacts, decodeRunRequest, sendOf } from "../codec.js";

/** The accepted message types. A `response` is rejected, because no request was sent. */
const TYPES = ["request", "notification", "heartbeat"] as const;
export type PlainType = (typeof TYPES)[number];

/** The members other than the content. */
export interface PlainHead {
  readonly id: string;
  readonly type: PlainType;
  readonly sender: Maybe<string>;
  readonly receiver: Maybe<string>;
  readonly correlationId: string;
}

/** How the answer is delivered. */
export type PlainDelivery = "answer" | "accepted" | "stream";

/** Validation that does not depend on the agent. */
export function readHead(body: unknown, newId: () => string): PlainHead {
  const wire = readObject(body, "body");
  const id = optional(wire["id"], "id", readString) ?? newId();
  return {
    id,
    type: readType(optional(wire["type"], "type", readString) ?? "request"),
    sender: optional(wire["sender"], "sender", readString),
    receiver: optional(wire["receiver"], "receiver", readString),
    correlationId: optional(wire["correlation_id"], "correlation_id", readString) ?? id,
  };
}

function readType(value: string): PlainType {
  const type = TYPES.find((each) => each === value);
  if (type === undefined) throw new DecodeProblem("type", `must be ${TYPES.join(", ")}`);
  return type;
}

/** A notification is only acknowledged. */
export function readDelivery(body: JsonObject, { type }: PlainHead, acceptsEvents: boolean): PlainDelivery {
  const metadata = optional(body["metadata"], "metadata", readObject);
  const mode = optional(body["mode"] ?? metadata?.["mode"], "mode", readString);
  if (type === "notification" || mode === "async" || metadata?.["async"] === true) return "accepted";
  return (readStream(body) ?? mode === "stream") || acceptsEvents ? "stream" : "answer";
}

/** `stream` of the message, else of the seed's envelope. */
function readStream(body: JsonObject): Maybe<boolean> {
  const context = optional(body["context"], "context", readObject);
  return optional(body["stream"], "stream", readBoolean) ?? optional(context?.["stream"], "context.stream", readBoolean);
}

/** Members of `metadata` with a counterpart in the envelope. */
const KNOWN_METADATA: ReadonlySet<string> = new Set(["trace_id", "idempotency_key", "protocol_hint", "async", "mode"]);

/** Table 8 of the seed, field by field. `context` holds the seed's other envelope members under the same names. */
export function decodePlain(body: JsonObject, head: PlainHead, facts: CodecFacts): Envelope {
  const metadata = optional(body["metadata"], "metadata", readObject);
  const context = optional(body["context"], "context", readObject);
  const own = (name: string): Maybe<string> => optional(metadata?.[name], `metadata.${name}`, readString);
  const session = optional(body["session_id"], "session_id", readString);
  const runId = optional(body["run_id"], "run_id", readString);
  const { content, extra } = readContent(body, facts);
  const rest = Object.entries(metadata ?? {}).filter(([name]) => !KNOWN_METADATA.has(name));
  const document = {
    id: head.id,
    ts: optional(body["timestamp"], "timestamp", readSeconds) ?? facts.now / 1000,
    src: head.sender ?? facts.src,
    dst: facts.dst,
    content: "",
    context: {
      ...context,
      trace_id: own("trace_id") ?? context?.["trace_id"] ?? parseTraceparent(facts.headers?.["traceparent"])?.traceId,
      idempotency_key:
        keyOf(facts.headers, own("idempotency_key")) ?? context?.["idempotency_key"] ?? keyOfRequestId(givenId(body)),
      session_id: session ?? context?.["session_id"],
      task_id: runId ?? context?.["task_id"],
      stream: readStream(body),
    },
    meta: { protocol_hint: own("protocol_hint") },
    // Not an envelope member: kept with the unknown ones.
    ...(isGiven(body["correlation_id"]) ? { correlation_id: head.correlationId } : undefined),
  };
  const envelope = readUte(document);
  const author = rest.length === 0 ? undefined : Object.fromEntries(rest);
  return {
    ...envelope,
    content,
    metadata: author,
    extra: extra === undefined ? envelope.extra : { ...envelope.extra, ...extra },
  };
}

function givenId({ id }: JsonObject): Maybe<string> {
  return typeof id === "string" ? id : undefined;
}

/** The correlation id is not an idempotency key: related messages share it, and the second would be dropped. */
function keyOf(headers: Maybe<HttpHeaders>, fromBody: Maybe<string>): Maybe<string> {
  const key = headers?.["idempotency-key"];
  if (key !== undefined && fromBody !== undefined && key !== fromBody)
    throw new DecodeProblem("metadata.idempotency_key", "and the Idempotency-Key header differ");
  return key ?? fromBody;
}

interface PlainContent {
  readonly content: readonly Part[];
  readonly extra: Envelope["extra"];
}

/** The members in which reference peers carry the text, in lookup order. */
function readContent(body: JsonObject, facts: CodecFacts): PlainContent {
  const { messages, message, content, text, payload } = body;
  if (isGiven(messages)) return ofMessages(readArray(messages, "messages", asWireMessage), facts);
  if (isObject(message)) return ofMessages([asWireMessage(message, "message")], facts);
  if (isGiven(message)) return single(textPart(readString(message, "message")));
  if (isGiven(content)) return single(typeof content === "string" ? textPart(content) : dataPart(content));
  if (isGiven(text)) return single(textPart(readString(text, "text")));
  if (isGiven(payload)) return { content: readPayload(payload), extra: undefined };
  throw new AgentError("invalid_message", "payload is missing", { field: "payload" });
}

const isGiven = (value: Maybe<Json>): value is Exclude<Json, null> => value !== undefined && value !== null;
const single = (part: Part): PlainContent => ({ content: [part], extra: undefined });

/** The text member, by its first known name. Other members are kept as data. */
const WORDS = ["text", "content", "question"] as const;

function readPayload(payload: Exclude<Json, null>): readonly Part[] {
  if (typeof payload === "string") return [textPart(payload)];
  if (!isObject(payload)) return [dataPart(readArray(payload, "payload", (item) => item as Json))];
  const text = WORDS.find((name) => typeof payload[name] === "string");
  const rest = Object.entries(payload).filter(([name]) => name !== text);
  const data = rest.length === 0 ? [] : [dataPart(Object.fromEntries(rest))];
  if (text !== undefined) return [textPart(readString(payload[text], `payload.${text}`)), ...data];
  if (data.length === 0) throw new DecodeProblem("payload", "is empty");
  return data;
}

/** Messages have the released format, so its decoder is used. */
function ofMessages(input: readonly JsonObject[], facts: CodecFacts): PlainContent {
  const { content, extra } = sendOf(
    decodeRunRequest({ agent_name: facts.dst, input }, { ...facts, headers: undefined }),
  ).envelope;
  return { content, extra };
}

/** Accepts `{role, content}`, and parts that are `{text}`, in addition to the released format. */
function asWireMessage(value: unknown, path: string): JsonObject {
  const { role, parts, content, text } = readObject(value, path);
  const given = isGiven(parts) ? readArray(parts, `${path}.parts`, asWirePart) : [asWirePart(content ?? text, `${path}.content`)];
  return { role, parts: given };
}

function asWirePart(value: unknown, path: string): JsonObject {
  if (typeof value === "string") return { content_type: "text/plain", content: value };
  const part = readObject(value, path);
  return typeof part["text"] === "string" && part["content"] === undefined
    ? { content_type: "text/plain", content: part["text"] }
    : part;
}

function readSeconds(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new DecodeProblem(path, "must be a number of seconds");
}
