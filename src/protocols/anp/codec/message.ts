import type { Envelope, JsonObject } from "../../../envelope/index.js";
import { carriedFrom, readCarried } from "../../../transport/carried.js";
import { DecodeProblem, optional, readObject, readString, readStrings, readText } from "../../../transport/fields.js";
import type { WireMessage } from "../wire.js";
import { type DecodeFacts, decodeParts, encodeParts } from "./part.js";

export function encodeMessage(envelope: Envelope): WireMessage & JsonObject {
  const { id, role, content, context, references, extensions, metadata } = envelope;
  return {
    id,
    role: role === "user" ? undefined : role,
    parts: encodeParts(content) as readonly JsonObject[], // a closed interface has no index signature
    sessionId: context.sessionId,
    taskId: context.taskId,
    parentId: role === "agent" ? context.parentId : undefined,
    references,
    extensions,
    metadata,
    envelope: carriedFrom(envelope),
  };
}

/** Throws DecodeProblem. */
export function decodeMessage(value: unknown, path: string, facts: DecodeFacts): Envelope {
  const wire = readObject(value, path);
  const sessionId = optional(wire["sessionId"], `${path}.sessionId`, readString);
  const taskId = optional(wire["taskId"], `${path}.taskId`, readString);
  const parentId = optional(wire["parentId"], `${path}.parentId`, readString);
  const carried = readCarried(wire["envelope"] ?? {}, `${path}.envelope`, { sessionId, taskId });
  return {
    id: optional(wire["id"], `${path}.id`, readText) ?? facts.newId(),
    ts: carried.ts ?? facts.ts,
    src: carried.src ?? facts.src,
    dst: carried.dst ?? facts.dst,
    intent: carried.intent ?? "",
    role: readRole(wire["role"], `${path}.role`),
    content: decodeParts(wire["parts"], `${path}.parts`, facts),
    context: parentId === undefined ? carried.context : { ...carried.context, parentId },
    meta: carried.meta,
    references: optional(wire["references"], `${path}.references`, readStrings),
    extensions: optional(wire["extensions"], `${path}.extensions`, readStrings),
    metadata: optional(wire["metadata"], `${path}.metadata`, readObject),
    proofs: carried.proofs,
    extra: carried.extra,
  };
}

function readRole(value: unknown, path: string): Envelope["role"] {
  if (value === undefined || value === "user") return "user";
  if (value === "agent") return value;
  throw new DecodeProblem(path, "must be user or agent");
}
