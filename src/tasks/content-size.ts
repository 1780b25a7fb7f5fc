import type { Envelope, Json, Maybe, Part, Task, TaskEvent } from "../envelope/index.js";

/** What an object costs beside its text; a rough figure for a limit, not a measurement. */
const OBJECT_BYTES = 64;

/** About how many bytes an entry of a journal holds. Costs as much as the entry is long. */
export function eventSize(event: TaskEvent): number {
  switch (event.kind) {
    case "task":
      return OBJECT_BYTES + taskSize(event.task);
    case "status":
      return (
        OBJECT_BYTES + (event.status.message === undefined ? 0 : messageSize(event.status.message)) + jsonSize(event.metadata)
      );
    case "artifact":
      return OBJECT_BYTES + partsSize(event.artifact.parts) + jsonSize(event.artifact.metadata);
    default:
      return event satisfies never;
  }
}

/** About how many bytes a message holds. */
export function messageSize(message: Envelope): number {
  return 2 * OBJECT_BYTES + partsSize(message.content) + jsonSize(message.metadata) + jsonSize(message.extra);
}

/** About how many bytes a JSON value holds. */
export function jsonSize(value: Maybe<Json>): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === "string") return value.length;
  if (typeof value !== "object") return 8;
  let bytes = OBJECT_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += 8 + jsonSize(item);
  else for (const [key, item] of Object.entries(value)) bytes += key.length + jsonSize(item);
  return bytes;
}

function taskSize(task: Task): number {
  let bytes = OBJECT_BYTES + jsonSize(task.metadata);
  for (const message of task.history) bytes += messageSize(message);
  for (const artifact of task.artifacts) bytes += OBJECT_BYTES + partsSize(artifact.parts);
  return bytes;
}

function partsSize(parts: readonly Part[]): number {
  let bytes = 0;
  for (const part of parts) bytes += OBJECT_BYTES + contentSize(part) + jsonSize(part.metadata);
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
