import {
  type AgentEvent,
  answerText,
  type Content,
  type Envelope,
  type EventOf,
  type IdSource,
  type JsonObject,
  type Maybe,
  type Part,
  partsOf,
  systemIds,
  type Task,
  textOf,
} from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { readSeedMessage, readSignatureText, writeSeedMessage, writeSignatureText } from "../codec.js";

/** How a message is protected: not at all, or by SAGE. */
export type SecurityMode = "none" | "sage";
/** The mode of a message that is sent by SAGE or not at all. */
export const SecurityModeSAGE = "sage" satisfies SecurityMode;

/** The member `security` of a message. With the mode alone it asks for SAGE; a signed message has all members. */
export interface SecurityOptions {
  readonly mode: SecurityMode;
  /** `keyid="…", algorithm="ed25519", created=…, signature="…", expires=…, nonce="…"` */
  readonly signature?: Maybe<string>;
  /** The DID URL of the key that signed. */
  readonly keyId?: Maybe<string>;
  /** The DID of the author. */
  readonly did?: Maybe<string>;
}

/** How far a message may be seen. One without a label counts as confidential. */
export type Sensitivity = "public" | "internal" | "confidential";

/** A message between agents, independent of the protocol. */
export interface Message {
  readonly messageId: string;
  /** The conversation. */
  readonly contextId?: Maybe<string>;
  /** The task that it continues. */
  readonly taskId?: Maybe<string>;
  readonly role: "user" | "agent";
  readonly parts: readonly Part[];
  /** ISO 8601. */
  readonly timestamp: string;
  readonly security?: Maybe<SecurityOptions>;
  /** The DID of the agent that it is for: that agent must prove it. */
  readonly recipientDid?: Maybe<string>;
  /** The address of the agent that it is for. Default: the one in the record of `recipientDid`, or the peer of the sender. */
  readonly recipientUrl?: Maybe<string>;
  /** Decides whether it may ever be sent without SAGE. It is not sent along. */
  readonly sensitivity?: Maybe<Sensitivity>;
}

/** What a new message has besides its content. */
export type NewMessage = Partial<
  Pick<Message, "contextId" | "taskId" | "security" | "recipientDid" | "recipientUrl" | "sensitivity">
>;

/** A message to an agent: text, JSON or parts. */
export function newMessage(content: Content, more: NewMessage = {}, { newId, now }: IdSource = systemIds): Message {
  return {
    messageId: newId(),
    role: "user",
    parts: partsOf(content),
    timestamp: new Date(now()).toISOString(),
    ...more,
  };
}

/** How an answer was protected. */
export interface ResponseSecurity {
  /** The answer was signed by `did`, and sealed if the agent has sessions. */
  readonly protected: boolean;
  readonly did?: Maybe<string>;
  /** Why it was not, though SAGE was asked for. */
  readonly reason?: Maybe<string>;
}

/** The answer of an agent. */
export interface MessageResponse {
  /** The text of the message, or of what the task resulted in. */
  readonly text: string;
  readonly message?: Maybe<Message>;
  readonly task?: Maybe<Task>;
  readonly security?: Maybe<ResponseSecurity>;
}

/** One event of a streamed answer. */
export type ResponseEvent = EventOf<"send">;

/** The JSON form: `message_id`, `context_id`, `role`, `parts`, `metadata.timestamp` and `security`. */
export function writeMessage(message: Message): JsonObject {
  const { messageId, contextId, role, parts, timestamp, security } = message;
  const { mode = "none", signature, keyId = "", did = "" } = security ?? {};
  return writeSeedMessage({
    ...{ messageId, contextId, role, parts, timestamp },
    security: signature === undefined ? undefined : { mode, signature: readSignatureText(signature), keyId, did },
  });
}

/** Throws an error with the member that is wrong. */
export function readMessage(json: unknown): Message {
  const { messageId, contextId, role, parts, timestamp = "", security } = readSeedMessage(json);
  const message = { messageId, contextId, role, parts, timestamp };
  if (security === undefined) return message;
  const { mode, keyId, did, signature } = security;
  return { ...message, security: { mode: checkedMode(mode), signature: writeSignatureText(signature), keyId, did } };
}

/** An unknown mode is an error: it is never read as none. */
export function checkedMode(mode: string): SecurityMode {
  if (mode === "none" || mode === "sage") return mode;
  throw new DecodeProblem("security.mode", 'must be "none" or "sage"');
}

export function envelopeOf(message: Message, src: string): Envelope {
  const { messageId, contextId, taskId, role, parts, timestamp } = message;
  const context = {
    ...(contextId === undefined ? undefined : { sessionId: contextId }),
    ...(taskId === undefined ? undefined : { taskId }),
  };
  const ts = Date.parse(timestamp) / 1_000;
  return { id: messageId, ts, src, dst: "", intent: "", role, content: parts, context, meta: {} };
}

export function messageOf({ id, ts, role, content, context: { sessionId, taskId } }: Envelope): Message {
  return {
    messageId: id,
    ...(sessionId === undefined ? undefined : { contextId: sessionId }),
    ...(taskId === undefined ? undefined : { taskId }),
    ...{ role, parts: content, timestamp: new Date(ts * 1_000).toISOString() },
  };
}

export function responseOf(event: AgentEvent, security: ResponseSecurity): MessageResponse {
  if (event.kind === "message") return { text: textOf(event.message.content), message: messageOf(event.message), security };
  return event.kind === "task" ? { text: answerText(event.task), task: event.task, security } : { text: "", security };
}
