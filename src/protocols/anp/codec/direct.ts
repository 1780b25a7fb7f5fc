import { AgentError, type Envelope, isObject, type JsonObject, type Maybe, type Part } from "../../../envelope/index.js";
import { DecodeProblem, optional, readObject, readString, readText } from "../../../transport/fields.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import type { DecodeFacts } from "./part.js";

/** P1 and P3: the profiles, and what a message may contain. */
export const DIRECT_PROFILE = "anp.direct.base.v1";
export const TRANSPORT_PROTECTED = "transport-protected";
export const CONTENT_TYPES = ["text/plain", "application/json", "application/octet-stream"] as const;

/** `params` of a method of messaging (P1 §4). */
export interface MessagingParams {
  readonly meta: JsonObject;
  readonly auth: Maybe<JsonObject>;
  readonly body: JsonObject;
}

const META: ReadonlySet<string> = new Set([
  "profile",
  "security_profile",
  "sender_did",
  "target",
  "operation_id",
  "message_id",
  "created_at",
  "content_type",
  "sender_device_id",
  "recipient_device_id",
  "anp_version",
]);

/** Throws DecodeProblem. Members of `meta` that begin with `x_` are the sender's own. */
export function readMessagingParams(params: JsonObject): MessagingParams {
  const meta = readObject(params["meta"], "params.meta");
  const unknown = Object.keys(meta).find((name) => !META.has(name) && !name.startsWith("x_"));
  if (unknown !== undefined)
    throw new DecodeProblem(`params.meta.${unknown}`, "is not a member of meta; own members begin with x_");
  return {
    meta,
    auth: optional(params["auth"], "params.auth", readObject),
    body: optional(params["body"], "params.body", readObject) ?? {},
  };
}

/** A message of `direct.send` with what it belongs to. */
export interface DirectMessage {
  readonly envelope: Envelope;
  readonly messageId: string;
  readonly operationId: string;
  readonly senderDid: string;
  readonly targetDid: string;
  /** The message that this one answers. */
  readonly replyTo: Maybe<string>;
}

/** Throws DecodeProblem, and AgentError for profiles and contents that are not supported. */
export function decodeDirect({ meta, body }: MessagingParams, facts: DecodeFacts): DirectMessage {
  if (meta["profile"] !== DIRECT_PROFILE)
    throw new AgentError("unsupported_version", `the profile must be ${DIRECT_PROFILE}`, { field: "params.meta.profile" });
  if (meta["security_profile"] !== TRANSPORT_PROTECTED)
    throw new AgentError("downgrade_refused", `the security profile must be ${TRANSPORT_PROTECTED}`, {
      field: "params.meta.security_profile",
    });
  const messageId = readText(meta["message_id"], "params.meta.message_id");
  const senderDid = readText(meta["sender_did"], "params.meta.sender_did");
  const target = readObject(meta["target"], "params.meta.target");
  if (target["kind"] !== "agent") throw new DecodeProblem("params.meta.target.kind", "must be agent");
  const replyTo = optional(body["reply_to_message_id"], "params.body.reply_to_message_id", readText);
  const trace = optional(meta["x_trace_id"], "params.meta.x_trace_id", readString);
  return {
    messageId,
    operationId: readText(meta["operation_id"], "params.meta.operation_id"),
    senderDid,
    targetDid: readText(target["did"], "params.meta.target.did"),
    replyTo,
    envelope: {
      id: messageId,
      ts: facts.ts,
      src: senderDid,
      dst: facts.dst,
      intent: "",
      role: replyTo === undefined ? "user" : "agent",
      content: [contentOf(meta["content_type"], body)],
      context: {
        sessionId: optional(body["conversation_id"], "params.body.conversation_id", readString),
        parentId: replyTo,
        traceId: trace,
      },
      meta: {},
      metadata: isObject(body["annotations"]) ? body["annotations"] : undefined,
    },
  };
}

const CONTENT = ["text", "payload", "payload_b64u"] as const;

function contentOf(type: unknown, body: JsonObject): Part {
  const mediaType = readText(type, "params.meta.content_type");
  const [member, second] = CONTENT.filter((name) => body[name] !== undefined);
  if (member === undefined || second !== undefined)
    throw new DecodeProblem("params.body", `must have exactly one of ${CONTENT.join(", ")}`);
  if (member === "text")
    return { kind: "text", text: readString(body["text"], "params.body.text"), mediaType: other(mediaType, "text/plain") };
  if (member === "payload")
    return {
      kind: "data",
      data: readObject(body["payload"], "params.body.payload"),
      mediaType: other(mediaType, "application/json"),
    };
  return { kind: "raw", bytes: readBase64(body["payload_b64u"], "params.body.payload_b64u"), mediaType };
}

function other(mediaType: string, usual: string): Maybe<string> {
  return mediaType === usual ? undefined : mediaType;
}

/** `meta` and `body` of a message with one part. Throws `unsupported_content` for what P3 cannot carry. */
export function encodeDirect(
  envelope: Envelope,
  { senderDid, targetDid }: { readonly senderDid: string; readonly targetDid: string },
): { readonly meta: JsonObject; readonly body: JsonObject } {
  const [part, second] = envelope.content;
  if (part === undefined || second !== undefined || part.kind === "url")
    throw new AgentError("unsupported_content", "a direct message has one part with content", {
      field: "message.parts",
      sent: "no",
    });
  const { context, id } = envelope;
  const content: JsonObject =
    part.kind === "text"
      ? { text: part.text }
      : part.kind === "raw"
        ? { payload_b64u: Buffer.from(part.bytes).toString("base64url") }
        : { payload: isObject(part.data) ? part.data : { value: part.data } };
  return {
    meta: {
      profile: DIRECT_PROFILE,
      security_profile: TRANSPORT_PROTECTED,
      sender_did: senderDid,
      target: { kind: "agent", did: targetDid },
      operation_id: context.idempotencyKey ?? id,
      message_id: id,
      created_at: `${writeTimestamp(envelope.ts * 1_000).slice(0, 19)}Z`,
      content_type: part.mediaType ?? usualType(part),
      ...(context.traceId === undefined ? undefined : { x_trace_id: context.traceId }),
    },
    body: {
      ...(context.sessionId === undefined ? undefined : { conversation_id: context.sessionId }),
      ...(context.parentId === undefined ? undefined : { reply_to_message_id: context.parentId }),
      ...content,
    },
  };
}

/** The content type of a part that names none. */
export function usualType({ kind }: Part): string {
  return kind === "text" ? "text/plain" : kind === "data" ? "application/json" : "application/octet-stream";
}
