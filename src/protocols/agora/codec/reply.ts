import { type Envelope, isProtected, type LossSink, type Maybe, type Task, textPart } from "../../../envelope/index.js";
import { DecodeProblem, optional, readObject, readString } from "../../../transport/fields.js";
import { cannotCarry, ONLY_KOINE_PEERS } from "../../keep-protection.js";
import { STATUSES, type WireMetadata, type WireReply, type WireStatus } from "../wire.js";
import { bodyOf, isPlainText, plainBodyOf, reportContentLoss } from "./body.js";
import { envelopeWith, type MessageFacts } from "./envelope.js";
import { hasMore, reportMemberLosses } from "./envelope-members.js";
import { carriedEnvelope, readMetadata, writeCarried } from "./metadata.js";
import { isTaskProtected, readTask, reportHistoryLoss, reportTaskLosses, shownParts, writeTask } from "./task.js";

/** How a reply is encoded. */
export interface ReplyForm {
  /** The id of the conversation that this reply opens. */
  readonly conversationId: Maybe<string>;
  /** The caller runs Koine and reads its metadata; others get the plain reply. */
  readonly whole: boolean;
  /** The document requires JSON in the body. */
  readonly json: boolean;
  /** The task that produced the answer. */
  readonly task: Maybe<Task>;
}

/** Encodes an answer. Reports what this caller cannot receive; throws if that is a signature, ciphertext, or all of it. */
export function encodeReply(message: Envelope, form: ReplyForm, reportLoss: LossSink): WireReply {
  const { content } = message;
  const { task, whole, conversationId } = form;
  const fits = isPlainText(content);
  const more = hasMore(message, true);
  if (!whole) {
    if (isProtected(message) || (task !== undefined && isTaskProtected(task)))
      throw cannotCarry("agora", "the answer", ONLY_KOINE_PEERS);
    if (!fits) reportContentLoss(content, form.json, reportLoss);
    if (more) reportMemberLosses(message, true, reportLoss);
    if (task !== undefined) reportTaskLosses(task, true, reportLoss);
  } else if (task !== undefined) reportHistoryLoss(task, reportLoss);
  const body = whole ? bodyOf(content) : plainBodyOf(content, form.json, "the answer");
  // The task already contains the message.
  const besides = task === undefined ? beside(message, more || !fits) : { ...beside(message, false), ...aboutTask(task, body) };
  return { status: "success", conversationId, body, metadata: whole ? besides : undefined };
}

/** A task in a reply to a Koine peer. */
export function aboutTask(task: Task, body: string): Pick<WireMetadata, "receipt" | "task"> {
  return { receipt: { id: task.id, state: task.status.state }, task: writeTask(task, body) };
}

function beside(message: Envelope, carried: boolean): WireMetadata {
  return {
    koine: 1,
    request_id: message.id,
    source: message.src,
    target: message.dst,
    trace_id: message.context.traceId,
    session: message.context.sessionId,
    envelope: carried ? writeCarried(message) : undefined,
  };
}

/** A reply after its members were checked. */
export interface ReadReply {
  readonly status: WireStatus;
  /** The answer or the error message. Empty if there is none. */
  readonly body: string;
  readonly conversationId: Maybe<string>;
  readonly metadata: WireMetadata;
}

/** Throws DecodeProblem if the reply matches no dialect. */
export function readReply(value: unknown): ReadReply {
  const wire = readObject(value, "");
  const status = STATUSES.find((one) => one === wire["status"]);
  if (status === undefined) throw new DecodeProblem("status", `must be one of ${STATUSES.join(", ")}`);
  const text = status === "success" ? wire["body"] : (wire["message"] ?? wire["body"]);
  return {
    status,
    body: optional(text, status === "success" ? "body" : "message", readString) ?? "",
    conversationId: optional(wire["conversationId"], "conversationId", readString),
    metadata: readMetadata(wire),
  };
}

/** Values for members that a reply does not carry. */
export interface ReplyFacts extends MessageFacts {
  /** The caller's session id. */
  readonly sessionId: Maybe<string>;
  /** The message that is answered. */
  readonly parentId: Maybe<string>;
  readonly traceId: Maybe<string>;
}

/** A successful reply as the envelope. Throws DecodeProblem. */
export function decodeReply(reply: ReadReply, facts: ReplyFacts): Envelope {
  const { metadata, body } = reply;
  const carried = carriedEnvelope(metadata, (envelope) => bodyOf(envelope.content) === body);
  const task = readTask(metadata, body);
  const shown = task === undefined ? [] : shownParts(task);
  return envelopeWith(metadata, carried, facts, {
    role: "agent",
    intent: carried?.intent ?? "",
    content: carried?.content ?? (shown.length > 0 && bodyOf(shown) === body ? shown : [textPart(body)]),
    traceId: metadata.trace_id ?? facts.traceId,
    parentId: carried?.context.parentId ?? facts.parentId,
    idempotencyKey: carried?.context.idempotencyKey,
    sessionId: facts.sessionId ?? metadata.session,
    taskId: metadata.receipt?.id,
  });
}
