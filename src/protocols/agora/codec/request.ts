import {
  type Context,
  dataPart,
  type Envelope,
  isObject,
  isProtected,
  type JsonObject,
  type LossSink,
  type Maybe,
  type Part,
  readUte,
  textPart,
  writeUte,
} from "../../../envelope/index.js";
import { DecodeProblem, kindOf, optional, readBoolean, readObject, readString, readStrings } from "../../../transport/fields.js";
import { cannotCarry, ONLY_KOINE_PEERS } from "../../keep-protection.js";
import { keyOfRequestId } from "../../request-id-key.js";
import { NEGOTIATION, type WireMetadata, type WireRequest } from "../wire.js";
import { bodyOf, isPlainData, isPlainText, partsOfBody, plainBodyOf, reportContentLoss } from "./body.js";
import { envelopeWith, type MessageFacts } from "./envelope.js";
import { hasMore, reportMemberLosses } from "./envelope-members.js";
import { carriedEnvelope, orProblem, readMetadata, writeCarried } from "./metadata.js";

/** How a message is encoded. */
export interface RequestForm {
  /** The hash of the document that the body follows; null for natural language. */
  readonly hash: string | null;
  readonly sources: readonly string[] | null;
  readonly multiround: boolean;
  /** The document requires JSON in the body. */
  readonly json: boolean;
  /** The peer runs Koine and reads the full envelope. For other peers, what does not fit is reported as lost. */
  readonly whole: boolean;
  readonly prefer?: Maybe<"receipt">;
  /** The peer reads the seed's plain form, which has the context beside the text. */
  readonly plain?: Maybe<boolean>;
}

/** Encodes a message. Reports what this peer cannot receive; throws if that is a signature, ciphertext, or all of it. */
export function encodeRequest(envelope: Envelope, form: RequestForm, reportLoss: LossSink): WireRequest {
  const { content, context } = envelope;
  const fits = isPlainText(content) || (form.json && isPlainData(content));
  // A document implies the intent; only natural language needs it in the text.
  const more = hasMore(envelope, form.hash === null);
  if (!form.whole) {
    if (isProtected(envelope)) throw cannotCarry("agora", "the message", ONLY_KOINE_PEERS);
    if (!fits) reportContentLoss(content, form.json, reportLoss);
    if (more) reportMemberLosses(envelope, form.hash === null, form.plain === true ? exceptContext(reportLoss) : reportLoss);
  }
  const body = form.whole ? bodyOf(content) : plainBodyOf(content, form.json, "the message");
  return {
    protocolHash: form.hash,
    protocolSources: form.sources,
    body,
    multiround: form.multiround ? true : undefined,
    ...(form.plain === true ? { message: body, context: contextOf(envelope) } : undefined),
    metadata: {
      koine: form.plain === true ? undefined : 1,
      request_id: envelope.id,
      source: envelope.src,
      target: envelope.dst,
      trace_id: context.traceId,
      idempotency_key: context.idempotencyKey,
      session: context.sessionId,
      envelope: form.whole && (more || !fits) ? writeCarried(envelope) : undefined,
      prefer: form.prefer,
    },
  };
}

function exceptContext(reportLoss: LossSink): LossSink {
  return (loss) => {
    if (!loss.path.startsWith("message.context.")) reportLoss(loss);
  };
}

function contextOf(envelope: Envelope): Maybe<JsonObject> {
  const { context } = writeUte({ ...envelope, content: [], extra: undefined });
  return isObject(context) ? context : undefined;
}

/** A request with validated members. The body is not interpreted yet. */
export interface ReadRequest {
  /** Null for natural language. Undefined if absent, which is allowed in later messages of a conversation. */
  readonly hash: string | null | undefined;
  readonly sources: readonly string[];
  /** Undefined if the seed's members are used instead. */
  readonly body: Maybe<string>;
  /** The content of the seed's `message` and `parameters`. */
  readonly seed: Maybe<readonly Part[]>;
  readonly multiround: boolean;
  /** The seed's `context`. */
  readonly context: Maybe<Context>;
  readonly metadata: WireMetadata;
}

/** Throws DecodeProblem. Reads the seed's `message` and `parameters` if there is no `body`. */
export function readRequest(value: unknown): ReadRequest {
  const wire = readObject(value, "");
  const hash = readHash(wire["protocolHash"]);
  const metadata = readMetadata(wire);
  const body = optional(wire["body"], "body", readString);
  const seed = body === undefined ? readSeed(wire) : undefined;
  if (body === undefined && seed === undefined && !isTaskRequest(metadata))
    throw new DecodeProblem("body", "is missing; a string is expected");
  return {
    hash,
    sources: typeof hash === "string" && hash !== NEGOTIATION ? readSources(wire["protocolSources"]) : NO_SOURCES,
    body,
    seed,
    multiround: optional(wire["multiround"], "multiround", readBoolean) ?? false,
    context: optional(wire["context"], "context", readContext),
    metadata,
  };
}

const NO_SOURCES: readonly string[] = Object.freeze([]);

function readContext(value: unknown, path: string): Context {
  return orProblem(path, () => readUte({ src: "", dst: "", content: "", context: readObject(value, path) })).context;
}

function readHash(value: unknown): string | null | undefined {
  if (value === undefined || value === null || typeof value === "string") return value;
  throw new DecodeProblem("protocolHash", `must be a string or null, not ${kindOf(value)}`);
}

/** Without a document hash, the sources are ignored. */
function readSources(value: unknown): readonly string[] {
  return optional(value, "protocolSources", readStrings) ?? NO_SOURCES;
}

/** The request queries or cancels a task and carries no new message. */
function isTaskRequest({ receipt, cancel }: WireMetadata): boolean {
  return receipt !== undefined || cancel !== undefined;
}

/** Table 8 of the seed: the content is `message`, a text or an object, and `parameters`. */
function readSeed(wire: JsonObject): Maybe<readonly Part[]> {
  const { message, parameters } = wire;
  const parts: Part[] = [];
  if (typeof message === "string") parts.push(textPart(message));
  else if (isObject(message)) parts.push(soleText(message) ?? dataPart(message));
  else if (message !== undefined && message !== null)
    throw new DecodeProblem("message", `must be a string, not ${kindOf(message)}`);
  const given = optional(parameters, "parameters", readObject);
  if (given !== undefined) parts.push(dataPart(given));
  return parts.length === 0 ? undefined : parts;
}

function soleText(message: JsonObject): Maybe<Part> {
  const { text } = message;
  return typeof text === "string" && Object.keys(message).length === 1 ? textPart(text) : undefined;
}

/** Values for members that a request does not carry. */
export interface RequestFacts extends MessageFacts {
  /** The skill whose document the body follows; undefined for natural language. */
  readonly intent: Maybe<string>;
  /** The body holds JSON. */
  readonly json: boolean;
  /** The conversation of the message. Only the caller knows its own session id. */
  readonly sessionId: Maybe<string>;
  /** The task to continue, if the request names none. */
  readonly taskId: Maybe<string>;
}

/** A request as the envelope. Throws DecodeProblem. */
export function decodeRequest(request: ReadRequest, facts: RequestFacts): Envelope {
  const { metadata, context } = request;
  const carried = carriedBy(request);
  return envelopeWith(metadata, carried, facts, {
    role: "user",
    intent: facts.intent ?? carried?.intent ?? "",
    content: contentOf(request, carried, facts.json),
    traceId: metadata.trace_id ?? context?.traceId,
    parentId: carried?.context.parentId ?? context?.parentId,
    idempotencyKey: keyIn(request),
    sessionId: facts.sessionId ?? metadata.session,
    taskId: carried?.context.taskId ?? facts.taskId,
    context,
  });
}

/** The idempotency key. Senders that are not Koine are known by the id of their request. */
export function keyIn({ metadata, context }: ReadRequest): Maybe<string> {
  const key = metadata.idempotency_key ?? context?.idempotencyKey;
  return key ?? (metadata.koine === 1 ? undefined : keyOfRequestId(metadata.request_id));
}

/** The id of the task that a Koine client addresses. Throws DecodeProblem. */
export function taskNamedIn(request: ReadRequest): Maybe<string> {
  return carriedBy(request)?.context.taskId;
}

function carriedBy({ metadata, body = "" }: ReadRequest): Maybe<Envelope> {
  return carriedEnvelope(metadata, (envelope) => bodyOf(envelope.content) === body);
}

/** The content: the body, with additional parts if present. Text that must be JSON is always parsed. */
function contentOf({ seed, body = "" }: ReadRequest, carried: Maybe<Envelope>, json: boolean): readonly Part[] {
  const content = carried?.content ?? seed;
  return content === undefined || (json && isPlainText(content)) ? partsOfBody(body, json) : content;
}
