import {
  type Context,
  type Envelope,
  type JsonObject,
  type Maybe,
  NO_META,
  type Part,
  textPart,
} from "../../../envelope/index.js";
import { type Carried, carriedFrom, readCarried } from "../../../transport/carried.js";
import { DecodeProblem, kindOf, optional, readObject, readString, readStrings } from "../../../transport/fields.js";
import { readTimestamp, writeTimestamp } from "../../../transport/timestamp.js";
import type { WireMessage, WirePart } from "../wire.js";
import type { CodecFacts } from "./facts.js";
import { koinePath } from "./koine-members.js";
import { readPart, writePart } from "./part.js";

const AGENT = "agent/";
/** The agent names that both SDKs accept after `agent/`. */
const ROLE_NAME = /^[a-zA-Z0-9_-]+$/;

/** The conversation of a message, from the request or the run. */
export type ConversationIds = Pick<Context, "sessionId" | "taskId">;

/** The inputs of decoding a message. */
export interface Setting {
  readonly facts: CodecFacts;
  readonly ids: ConversationIds;
  /** The message id, if it is carried outside the message. */
  readonly id?: Maybe<string>;
}

/**
 * Decodes a message. For an agent's message, `own` are the Koine members of its first part. Those of a caller's message are
 * ignored, because they may be copied from another answer; callers send them in the request header.
 */
export function readMessage(value: unknown, path: string, { facts, ids, id }: Setting, own?: Maybe<JsonObject>): Envelope {
  const wire = readObject(value, path);
  const role = wire.role === undefined || wire.role === null ? "user" : readRole(wire.role, `${path}.role`);
  const content = own?.none === true ? [] : readParts(wire.parts, `${path}.parts`, facts);
  const created = wire.created_at;
  const createdAt = created === undefined || created === null ? undefined : readTime(created, `${path}.created_at`);
  const carried = own?.message === undefined ? undefined : koineMembersOn(own.message, path, ids);
  const writer = role === "user" || role === "agent" ? undefined : role.slice(AGENT.length);
  return {
    id: carried?.id ?? id ?? facts.newId(),
    ts: carried?.rest.ts ?? (createdAt ?? facts.now) / 1000,
    src: carried?.rest.src ?? writer ?? facts.src,
    dst: carried?.rest.dst ?? facts.dst,
    intent: carried?.rest.intent ?? "",
    role: role === "user" ? role : "agent",
    content,
    context: contextOf(carried, ids, role === "user" ? undefined : facts.parentId),
    meta: carried?.rest.meta ?? NO_META,
    references: carried?.references,
    extensions: carried?.extensions,
    metadata: carried?.metadata,
    proofs: carried?.rest.proofs,
    extra: carried?.rest.extra,
  };
}

function koineMembersOn(members: unknown, path: string, ids: ConversationIds): KoineMembers {
  const at = koinePath(`${path}.parts[0]`, "message");
  return readKoineMembers(readObject(members, at), at, ids);
}

function contextOf(carried: Maybe<KoineMembers>, ids: ConversationIds, parentId: Maybe<string>): Context {
  if (carried === undefined) return { sessionId: ids.sessionId, taskId: ids.taskId, parentId };
  const { context } = carried.rest;
  return context.parentId === undefined && parentId !== undefined ? { ...context, parentId } : context;
}

/** `user`, `agent` or `agent/name`. Clients before 0.11 sent none, which means `user`. */
function readRole(value: unknown, path: string): string {
  if (value === "user" || value === "agent") return value;
  if (typeof value === "string" && value.length > AGENT.length && value.startsWith(AGENT)) return value;
  throw new DecodeProblem(path, "must be user, agent or agent/name");
}

/** Python writes UTC times without a zone. */
export function readTime(value: unknown, path: string): number {
  const naive = typeof value === "string" && !value.endsWith("Z") && /T\d\d:\d\d:\d\d(\.\d+)?$/i.test(value);
  return readTimestamp(naive ? `${value}Z` : value, path);
}

/** A message without parts becomes one empty text part, so that an agent always receives content. */
export function readParts(value: unknown, path: string, facts: CodecFacts): readonly Part[] {
  if (!Array.isArray(value))
    throw new DecodeProblem(
      path,
      value === undefined || value === null ? "is missing; an array is expected" : `must be an array, not ${kindOf(value)}`,
    );
  checkCount(value.length, path, facts.partsPerMessage);
  if (value.length === 0) return [textPart("")];
  // Exactly one: a list that grows takes room for 17, and what is read here may be kept as long as its task.
  if (value.length === 1) return [readPart(value[0], `${path}[0]`, "part", facts)];
  const parts: Part[] = [];
  for (let index = 0; index < value.length; index++) parts.push(readPart(value[index], `${path}[${index}]`, "part", facts));
  return parts;
}

export function checkCount(count: number, path: string, limit: number): void {
  if (count > limit) throw new DecodeProblem(path, `has ${count} parts; at most ${limit} are read`, "too_large");
}

interface KoineMembers {
  readonly id: Maybe<string>;
  readonly references: Maybe<readonly string[]>;
  readonly extensions: Maybe<readonly string[]>;
  readonly metadata: Maybe<JsonObject>;
  readonly rest: Carried;
}

/** Reads envelope members from a request header or from the first part of an answer. */
export function readKoineMembers(members: JsonObject, path: string, ids: ConversationIds): KoineMembers {
  return {
    id: optional(members.id, `${path}.id`, readString),
    references: optional(members.references, `${path}.references`, readStrings),
    extensions: optional(members.extensions, `${path}.extensions`, readStrings),
    metadata: optional(members.metadata, `${path}.metadata`, readObject),
    rest: readCarried(members, path, ids),
  };
}

/** The members of an envelope other than its message, with UTE names. */
export function koineMembersFrom(envelope: Envelope, carried = carriedFrom(envelope)): JsonObject {
  const { id, src, dst, references, extensions, metadata } = envelope;
  if (carried === undefined) return { id, src, dst, references, extensions, metadata };
  return { id, references, extensions, metadata, ...carried };
}

/** The same for a part, without trace and idempotency key, because agents forward parts. */
export function partMembersOf(envelope: Envelope): JsonObject {
  const { traceId, idempotencyKey } = envelope.context;
  if (traceId === undefined && idempotencyKey === undefined) return koineMembersFrom(envelope);
  return koineMembersFrom({ ...envelope, context: { ...envelope.context, traceId: undefined, idempotencyKey: undefined } });
}

/** Encodes a message of a conversation: a caller's as `user`, an agent's as `agent/<agentName>`. */
export function encodeMessage(envelope: Envelope, agentName: string): WireMessage {
  return writeMessage(envelope, agentName, undefined);
}

/** `extension`: the Koine members for the first part. */
export function writeMessage(envelope: Envelope, agentName: string, extension: Maybe<JsonObject>): WireMessage {
  const at = writeTimestamp(Math.round(envelope.ts * 1000));
  const parts: WirePart[] = [];
  const { content } = envelope;
  for (let index = 0; index < content.length; index++)
    parts.push(writePart(content[index] as Part, "part", undefined, index === 0 ? extension : undefined)); // index < length
  if (content.length === 0 && extension !== undefined)
    parts.push(writePart(textPart(""), "part", undefined, { ...extension, none: true }));
  return { role: envelope.role === "user" ? "user" : agentRole(agentName), parts, created_at: at, completed_at: at };
}

/** Omits a name that the SDKs would reject in a role; the run carries it anyway. */
export function agentRole(name: string): string {
  return ROLE_NAME.test(name) ? AGENT + name : "agent";
}
