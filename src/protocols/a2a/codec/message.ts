import type { Context, Envelope, JsonObject, LossSink, Maybe, Metadata, Part } from "../../../envelope/index.js";
import { carriedFrom, readCarried } from "../../../transport/carried.js";
import { DecodeProblem, kindOf, readObject, readText } from "../../../transport/fields.js";
import type { DecodeFacts } from "../dialect.js";
import { decorativeMetadata, decorativeStrings, plain, plainStrings, readMetadata, someOf, someText } from "../wire.js";
import { ENVELOPE_KEY, withoutKey } from "./envelope-extension.js";
import type { Form } from "./form.js";

const NO_META: Envelope["meta"] = Object.freeze({ protocolHint: undefined, retryCount: undefined });

/** Decodes a message. The source is `facts.src`, unless the message names another. */
export function readMessage(form: Form, value: unknown, path: string, facts: DecodeFacts): Envelope {
  const object = readObject(value, path);
  const id = readText(object.messageId ?? object.message_id, `${path}.messageId`);
  const role = form.readRole(object.role, `${path}.role`);
  const content = readParts(form, object[form.content], `${path}.${form.content}`, facts);
  const sessionId = plain(object.contextId ?? object.context_id, `${path}.contextId`);
  const taskId = plain(object.taskId ?? object.task_id, `${path}.taskId`);
  const metadata = metadataIn(object, path, facts);
  const references = stringsIn(object.referenceTaskIds ?? object.reference_task_ids, `${path}.referenceTaskIds`, facts);
  const extensions = stringsIn(object.extensions, `${path}.extensions`, facts);
  const carried = metadata?.[ENVELOPE_KEY];
  if (metadata !== undefined && carried !== undefined) {
    const rest = readCarried(carried, `${path}.metadata["${ENVELOPE_KEY}"]`, { sessionId, taskId });
    return {
      id,
      ts: rest.ts ?? facts.now / 1000,
      src: rest.src ?? facts.src,
      dst: rest.dst ?? facts.dst,
      intent: rest.intent ?? "",
      role,
      content,
      context: rest.context,
      meta: rest.meta,
      references,
      extensions,
      metadata: withoutKey(metadata, ENVELOPE_KEY),
      proofs: rest.proofs,
      extra: rest.extra,
    };
  }
  return {
    id,
    ts: facts.now / 1000,
    src: facts.src,
    dst: facts.dst,
    intent: "",
    role,
    content,
    context: contextOf(sessionId, taskId, role === "agent" ? facts.parentId : undefined),
    meta: NO_META,
    references,
    extensions,
    metadata,
    proofs: undefined,
    extra: undefined,
  };
}

/** A caller is told what is wrong with its request; an answer is not refused for what only describes it. */
function metadataIn({ metadata }: JsonObject, path: string, { answer, reportLoss }: DecodeFacts): Maybe<Metadata> {
  const at = `${path}.metadata`;
  return answer === true ? decorativeMetadata(metadata, at, reportLoss) : readMetadata(metadata, at);
}

function stringsIn(value: unknown, path: string, { answer, reportLoss }: DecodeFacts): Maybe<readonly string[]> {
  return answer === true ? decorativeStrings(value, path, reportLoss) : plainStrings(value, path);
}

/** At least one part (A2A 1.0 §5.7), at most `limit`. */
export function readParts(
  form: Form,
  value: unknown,
  path: string,
  { partsPerMessage: limit, reportLoss }: DecodeFacts,
): readonly Part[] {
  if (!Array.isArray(value)) {
    const missing = value === undefined || value === null;
    throw new DecodeProblem(path, missing ? "is missing; an array is expected" : `must be an array, not ${kindOf(value)}`);
  }
  if (value.length === 0) throw new DecodeProblem(path, "must have at least one part");
  if (value.length > limit) throw new DecodeProblem(path, `has ${value.length} parts; at most ${limit} are read`, "too_large");
  // Exactly one: a list that grows takes room for 17, and what is read here may be kept as long as its task.
  if (value.length === 1) return [form.readPart(value[0], `${path}[0]`, reportLoss)];
  const parts: Part[] = [];
  for (let index = 0; index < value.length; index++) parts.push(form.readPart(value[index], `${path}[${index}]`, reportLoss));
  return parts;
}

interface WriteFacts {
  readonly reportLoss: LossSink;
  readonly returned: boolean;
}

/** A message that an agent returns: its own, or one that it received. */
export function writeReturned(form: Form, envelope: Envelope, path: string, reportLoss: LossSink): JsonObject {
  return writeMembers(form, envelope, path, { reportLoss, returned: true });
}

export function writeMessage(form: Form, envelope: Envelope, path: string, reportLoss: LossSink): JsonObject {
  return writeMembers(form, envelope, path, { reportLoss, returned: false });
}

function writeMembers(form: Form, envelope: Envelope, path: string, { reportLoss, returned }: WriteFacts): JsonObject {
  const messageId = envelope.id;
  const contextId = someText(envelope.context.sessionId);
  const taskId = someText(envelope.context.taskId);
  const role = envelope.role === "user" ? form.userRole : form.agentRole;
  const parts = writeParts(form, envelope.content, path, reportLoss);
  const metadata = metadataOf(envelope, path, reportLoss, returned);
  const extensions = someOf(envelope.extensions);
  const references = someOf(envelope.references);
  if (form.content === "parts")
    return {
      kind: form.kinds ? "message" : undefined,
      messageId,
      contextId,
      taskId,
      role,
      parts,
      metadata,
      extensions,
      referenceTaskIds: references,
    };
  if (references !== undefined)
    reportLoss({ protocol: "a2a", path: `${path}.references`, valueKind: "array", reason: "0.3 REST has no referenceTaskIds" });
  return { messageId, contextId, taskId, role, content: parts, metadata, extensions };
}

export function writeParts(form: Form, parts: readonly Part[], path: string, reportLoss: LossSink): readonly JsonObject[] {
  const written: JsonObject[] = [];
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as Part; // index < length
    written.push(form.writePart(part, `${path}.parts[${index}]`, reportLoss));
  }
  return written;
}

function metadataOf(envelope: Envelope, path: string, reportLoss: LossSink, returned: boolean): Maybe<Metadata> {
  const { metadata } = envelope;
  const carried = carriedFrom(envelope, returned);
  if (metadata?.[ENVELOPE_KEY] !== undefined)
    reportLoss({ protocol: "a2a", path: `${path}.metadata`, valueKind: "object", reason: `${ENVELOPE_KEY} is a reserved name` });
  else if (carried === undefined) return metadata;
  return carried === undefined
    ? withoutKey(metadata ?? {}, ENVELOPE_KEY)
    : // Spread defines members, it does not assign them.
      { ...metadata, [ENVELOPE_KEY]: carried };
}

/** Most messages begin something: a kept one then has no context of its own. */
const NEW_CONTEXT = Object.freeze(contextWith(undefined, undefined, undefined));

function contextOf(sessionId: Maybe<string>, taskId: Maybe<string>, parentId: Maybe<string>): Context {
  const isNew = sessionId === undefined && taskId === undefined && parentId === undefined;
  return isNew ? NEW_CONTEXT : contextWith(sessionId, taskId, parentId);
}

function contextWith(sessionId: Maybe<string>, taskId: Maybe<string>, parentId: Maybe<string>): Context {
  return {
    traceId: undefined,
    parentId,
    idempotencyKey: undefined,
    sessionId,
    taskId,
    priority: undefined,
    ttlMs: undefined,
    stream: undefined,
    artifactRefs: undefined,
    tags: undefined,
    minVersion: undefined,
    maxVersion: undefined,
  };
}
