import type { Artifact, Context, Envelope, Json, JsonObject, Maybe, Part, Task, TaskEvent } from "../envelope/index.js";

/** Estimated overhead per object; an approximation for limits, not a measurement. */
const OBJECT_BYTES = 64;

/** Approximate size of a journal entry in bytes. Linear in its length. */
export function eventSize(event: TaskEvent): number {
  switch (event.kind) {
    case "task":
      return OBJECT_BYTES + taskSize(event.task);
    case "status":
      return (
        OBJECT_BYTES + (event.status.message === undefined ? 0 : messageSize(event.status.message)) + jsonSize(event.metadata)
      );
    case "artifact":
      return artifactSize(event.artifact) + jsonSize(event.metadata);
    default:
      return event satisfies never;
  }
}

/** Approximate size of a message in bytes. */
export function messageSize(message: Envelope): number {
  const { id, src, dst, intent, context, content, references, extensions, metadata, extra, proofs = [] } = message;
  const names = id.length + src.length + dst.length + intent.length + namesSize(references) + namesSize(extensions);
  let bytes = 2 * OBJECT_BYTES + names + contextSize(context) + partsSize(content) + jsonSize(metadata) + jsonSize(extra);
  for (const { signed, signature } of proofs) bytes += OBJECT_BYTES + signed.byteLength + signature.byteLength;
  return bytes;
}

/** Approximate size of a JSON value in bytes. */
export function jsonSize(value: Maybe<Json>): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === "string") return value.length;
  if (typeof value !== "object") return 8;
  let bytes = OBJECT_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += 8 + jsonSize(item);
  else for (const key of Object.keys(value)) bytes += key.length + jsonSize((value as JsonObject)[key]); // it is no list
  return bytes;
}

function taskSize(task: Task): number {
  let bytes = OBJECT_BYTES + task.id.length + task.contextId.length + jsonSize(task.metadata);
  for (const message of task.history) bytes += messageSize(message);
  for (const artifact of task.artifacts) bytes += artifactSize(artifact);
  return bytes;
}

function contextSize(context: Context): number {
  const { traceId = "", parentId = "", idempotencyKey = "", sessionId = "", taskId = "", artifactRefs, tags } = context;
  const ids = traceId.length + parentId.length + idempotencyKey.length + sessionId.length + taskId.length;
  return ids + namesSize(artifactRefs) + namesSize(tags);
}

function artifactSize({ id, name = "", description = "", parts, metadata, extensions }: Artifact): number {
  const names = id.length + name.length + description.length + namesSize(extensions);
  return OBJECT_BYTES + names + partsSize(parts) + jsonSize(metadata);
}

function namesSize(names: Maybe<readonly string[]>): number {
  if (names === undefined) return 0;
  let bytes = 0;
  for (const name of names) bytes += name.length;
  return bytes;
}

function partsSize(parts: readonly Part[]): number {
  let bytes = 0;
  for (const part of parts) {
    const { mediaType = "", name = "", metadata } = part;
    bytes += OBJECT_BYTES + contentSize(part) + mediaType.length + name.length + jsonSize(metadata);
  }
  return bytes;
}

function contentSize(part: Part): number {
  switch (part.kind) {
    case "text":
      return part.text.length;
    case "raw":
      return part.bytes.byteLength;
    case "url":
      return part.url.length;
    case "data":
      return jsonSize(part.data);
    default:
      return part satisfies never;
  }
}
