import {
  AgentError,
  type AgentEvent,
  answerOf,
  answerText,
  type Envelope,
  isObject,
  type Json,
  type JsonObject,
  type LossSink,
  type Maybe,
  type Part,
  textOf,
} from "../../../envelope/index.js";
import { DecodeProblem, optional, readObject, readString, readText } from "../../../transport/fields.js";
import type { DecodeFacts } from "../codec/part.js";
import { readNumber, readOneOf } from "../codec/task.js";
import { reportMemberLosses, reportPartLosses } from "./losses.js";

/** The kinds of message of the seeds (G.3): a member, or the first byte of a message of a session. */
export const PROTOCOL_TYPES = ["META", "APPLICATION", "NATURAL"] as const;
export type ProtocolType = (typeof PROTOCOL_TYPES)[number];

/** A message of the plain form (seeds G.7). */
export interface PlainMessage {
  readonly requestId: string;
  /** Undefined: it does not say, so it is an application message. */
  readonly type: Maybe<ProtocolType>;
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
    type: optional(wire["protocol_type"], "protocol_type", (word, path) => readOneOf(PROTOCOL_TYPES, word, path)),
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
export function encodePlain(envelope: Envelope, reportLoss: LossSink): JsonObject {
  const { id, ts, src, dst, context, content, metadata } = envelope;
  reportMemberLosses(envelope, reportLoss);
  const text = textOf(content);
  return {
    type: "anp_message",
    request_id: id,
    source_id: src === "" ? "koine" : src,
    // What is not a DID is a name of this side only.
    ...(dst.startsWith("did:") ? { target_did: dst } : undefined),
    timestamp: ts,
    protocol_type: "APPLICATION",
    payload: {
      ...(text === "" ? undefined : { text }),
      content: plainContent(content, reportLoss),
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

/** Where a session has no headers: how many gateways a message has passed, so that loops end. A message of a caller has none. */
export function withHops(message: JsonObject, hops: number): JsonObject {
  const { payload } = message;
  if (hops === 0 || !isObject(payload) || !isObject(payload["context"])) return message;
  return { ...message, payload: { ...payload, context: { ...payload["context"], hops } } };
}

export function hopsIn({ payload }: JsonObject): number {
  const context = isObject(payload) ? payload["context"] : undefined;
  const hops = isObject(context) ? context["hops"] : undefined;
  return typeof hops === "number" && Number.isSafeInteger(hops) && hops > 0 ? hops : 0;
}

/** One value: that of a single data part, or the text. */
function plainContent(parts: readonly Part[], reportLoss: LossSink): Json {
  const [part] = parts;
  const isData = part?.kind === "data" && parts.length === 1;
  reportPartLosses(parts, isData ? "data" : "text", reportLoss);
  return isData ? part.data : { text: textOf(parts) };
}

/** What an agent answers to a message. */
export interface PlainAnswer {
  readonly parts: readonly Part[];
  readonly taskId: Maybe<string>;
}

/** Throws for events that are no answer to a message. The form has no states: work that failed is an error. */
export function plainAnswerOf(event: AgentEvent): PlainAnswer {
  if (event.kind === "message") return { parts: event.message.content, taskId: undefined };
  if (event.kind === "task") {
    const { task } = event;
    const { status } = task;
    if (status.state === "canceled") throw new AgentError("cancelled", "the task was canceled");
    if (status.state === "rejected")
      throw new AgentError("forbidden", `the agent rejected the message: ${textOf(status.message?.content ?? [])}`);
    if (status.state === "failed")
      throw new AgentError(status.error?.code ?? "internal", status.error?.message ?? textOf(status.message?.content ?? []));
    const parts = answerOf(task);
    // The pieces of one text are one text.
    const isText = parts.length > 1 && parts.every(({ kind }) => kind === "text");
    return { parts: isText ? [{ kind: "text", text: answerText(task) }] : parts, taskId: task.id };
  }
  throw new AgentError("internal", `the agent answered a message with ${event.kind}`);
}

/** Which message is answered, and when. */
export interface Answered {
  readonly requestId: string;
  /** As in the message, if it had one. */
  readonly type: Maybe<ProtocolType>;
  /** Seconds since the epoch. */
  readonly ts: number;
}

/** The answer to a message of the seeds. */
export function encodePlainAnswer(answered: Answered, { parts, taskId }: PlainAnswer, reportLoss: LossSink): JsonObject {
  const { requestId, type, ts } = answered;
  return {
    type: "anp_response",
    request_id: requestId,
    ...(type === undefined ? undefined : { protocol_type: type }),
    payload: {
      content: plainContent(parts, reportLoss),
      context: taskId === undefined ? {} : { task_id: taskId },
      metadata: { via: "anp_server" },
    },
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

/** An answer as an event: it has nothing but its content. */
export function answerTo(asked: Pick<Envelope, "id" | "context">, content: readonly Part[], facts: DecodeFacts): AgentEvent {
  const { ts, src, dst } = facts;
  const context = { parentId: asked.id, sessionId: asked.context.sessionId };
  return {
    kind: "message",
    message: { id: facts.newId(), ts, src, dst, intent: "", role: "agent", content, context, meta: {} },
  };
}

/**
 * The answer to a message of the meta-protocol. Old peers negotiate by texts that a language model reads and turns into code: that is
 * declined in its own form. Throws `unsupported` for the other actions.
 */
export function answerMeta({ payload }: JsonObject): JsonObject {
  const meta = isObject(payload) ? payload : {};
  if (meta["action"] !== "protocolNegotiation")
    throw new AgentError("unsupported", `negotiation is by anp.negotiate of the described interface`, { field: "protocol_type" });
  const sequence = meta["sequenceId"];
  return {
    action: "protocolNegotiation",
    sequenceId: typeof sequence === "number" ? sequence + 1 : 0,
    candidateProtocols: "",
    modificationSummary: "protocols are selected by anp.negotiate of the described interface",
    status: "rejected",
  };
}
