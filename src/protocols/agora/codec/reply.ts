import { type Envelope, type LossSink, type Maybe, type Task, textPart } from "../../../envelope/index.js";
import { DecodeProblem, optional, readObject, readString } from "../../../transport/fields.js";
import { STATUSES, type WireMetadata, type WireReply, type WireStatus } from "../wire.js";
import { bodyOf, isPlainText, loseContent } from "./body.js";
import { envelopeWith, type MessageFacts } from "./envelope.js";
import { carriedEnvelope, readMetadata, writeCarried } from "./metadata.js";
import { loseHistory, loseTask, readTask, shownParts, writeTask } from "./task.js";
import { hasMore, loseMore } from "./whole.js";

/** What an answer is written for. */
export interface ReplyForm {
  /** Of a conversation that this reply opens. */
  readonly conversationId: Maybe<string>;
  /** The caller is one of ours and reads what stands beside the body; any other gets the plain reply. */
  readonly whole: boolean;
  /** The document wants JSON in the body. */
  readonly json: boolean;
  /** The task that produced the answer. */
  readonly task: Maybe<Task>;
}

/** An answer as it is sent. Losses are what this caller will not see. */
export function encodeReply(message: Envelope, form: ReplyForm, lose: LossSink): WireReply {
  const { content } = message;
  const { task, whole, conversationId } = form;
  const fits = isPlainText(content);
  const more = hasMore(message, true);
  if (!whole) {
    if (!fits) loseContent(content, form.json, lose);
    if (more) loseMore(message, true, lose);
    if (task !== undefined) loseTask(task, true, lose);
  } else if (task !== undefined) loseHistory(task, lose);
  const body = bodyOf(content);
  // The task already contains the message.
  const besides = task === undefined ? beside(message, more || !fits) : { ...beside(message, false), ...aboutTask(task, body) };
  return { status: "success", conversationId, body, metadata: whole ? besides : undefined };
}

/** A task in a reply to a peer of ours. */
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

/** Throws DecodeProblem for what no dialect writes. */
export function readReply(value: unknown): ReadReply {
  const wire = readObject(value, "");
  const status = STATUSES.find((one) => one === wire["status"]);
  if (status === undefined) throw new DecodeProblem("status", `must be one of ${STATUSES.join(", ")}`);
  const said = status === "success" ? wire["body"] : (wire["message"] ?? wire["body"]);
  return {
    status,
    body: optional(said, status === "success" ? "body" : "message", readString) ?? "",
    conversationId: optional(wire["conversationId"], "conversationId", readString),
    metadata: readMetadata(wire),
  };
}

/** Values for members that a reply does not carry. */
export interface ReplyFacts extends MessageFacts {
  /** The caller's own name of the conversation. */
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
