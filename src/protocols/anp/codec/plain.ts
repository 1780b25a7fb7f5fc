import { type Envelope, isObject, type Json, type JsonObject, type Maybe, type Part, textOf } from "../../../envelope/index.js";
import { DecodeProblem, optional, readObject, readString, readText } from "../../../transport/fields.js";
import type { DecodeFacts } from "./part.js";
import { readNumber, readOneOf } from "./task.js";

/** The kinds of message of the seeds (G.3): on HTTP a member, on WebSocket the first byte. */
export const PROTOCOL_TYPES = ["META", "APPLICATION", "NATURAL"] as const;
export type ProtocolType = (typeof PROTOCOL_TYPES)[number];

/** A message of `POST /anp/message` (seeds G.7). */
export interface PlainMessage {
  readonly requestId: string;
  readonly type: ProtocolType;
  readonly envelope: Envelope;
}

/** Reads the form of the seeds' client and that of their converter. Throws DecodeProblem. */
export function decodePlain(value: unknown, facts: DecodeFacts): PlainMessage {
  const wire = readObject(value, "");
  const payload = wire["payload"];
  if (payload === undefined) throw new DecodeProblem("payload", "is missing");
  const members = isObject(payload) ? payload : {};
  const context = optional(members["context"], "payload.context", readObject) ?? {};
  const text = (name: string): Maybe<string> => optional(context[name] ?? wire[name], `payload.context.${name}`, readString);
  const requestId = optional(wire["request_id"], "request_id", readText) ?? facts.newId();
  return {
    requestId,
    type:
      optional(wire["protocol_type"], "protocol_type", (word, path) => readOneOf(PROTOCOL_TYPES, word, path)) ?? "APPLICATION",
    envelope: {
      id: requestId,
      ts: optional(wire["timestamp"], "timestamp", readNumber) ?? facts.ts,
      src: optional(wire["source_did"] ?? wire["source_id"], "source_id", readString) ?? facts.src,
      dst: optional(wire["target_did"], "target_did", readString) ?? facts.dst,
      intent: "",
      role: "user",
      content: contentOf(payload, members),
      context: {
        traceId: text("trace_id"),
        sessionId: text("session_id"),
        idempotencyKey: text("idempotency_key"),
        taskId: text("task_id"),
      },
      meta: {},
      metadata: optional(members["metadata"], "payload.metadata", readObject),
    },
  };
}

/** `payload` itself is the content, or `payload.text`, or `payload.content`. */
function contentOf(payload: Json, members: JsonObject): readonly Part[] {
  const content = members["content"] ?? members["text"] ?? (isObject(payload) ? withoutContext(payload) : payload);
  const inner =
    isObject(content) && typeof content["text"] === "string" && Object.keys(content).length === 1 ? content["text"] : content;
  return [typeof inner === "string" ? { kind: "text", text: inner } : { kind: "data", data: inner }];
}

function withoutContext({ context: _context, metadata: _metadata, ...content }: JsonObject): JsonObject {
  return content;
}

/** What the seeds' client sends. Both spellings of the content are written, for both readers. */
export function encodePlain(envelope: Envelope, targetDid: Maybe<string>): JsonObject {
  const { id, ts, src, context, content, metadata } = envelope;
  const text = textOf(content);
  const [part] = content;
  return {
    type: "anp_message",
    request_id: id,
    source_id: src === "" ? "koine" : src,
    ...(targetDid === undefined ? undefined : { target_did: targetDid }),
    timestamp: ts,
    protocol_type: "APPLICATION",
    payload: {
      ...(text === "" ? undefined : { text }),
      content: part?.kind === "data" && content.length === 1 ? part.data : { text },
      context: {
        trace_id: context.traceId,
        session_id: context.sessionId,
        idempotency_key: context.idempotencyKey,
        task_id: context.taskId,
      },
      metadata,
    },
  };
}

/** The answer to a message of the seeds. */
export function encodePlainAnswer(requestId: string, parts: readonly Part[], ts: number, taskId: Maybe<string>): JsonObject {
  const [part] = parts;
  const content: Json = part?.kind === "data" && parts.length === 1 ? part.data : { text: textOf(parts) };
  return {
    type: "anp_response",
    request_id: requestId,
    payload: { content, context: taskId === undefined ? {} : { task_id: taskId }, metadata: { via: "anp_server" } },
    timestamp: ts,
  };
}

/** The parts of such an answer. Throws DecodeProblem. */
export function decodePlainAnswer(value: unknown, requestId: string): readonly Part[] {
  const wire = readObject(value, "");
  if (wire["request_id"] !== undefined && wire["request_id"] !== requestId)
    throw new DecodeProblem("request_id", "is that of another message");
  const payload = wire["payload"];
  if (payload === undefined) throw new DecodeProblem("payload", "is missing");
  return contentOf(payload, isObject(payload) ? payload : {});
}
