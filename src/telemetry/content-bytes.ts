import { type AgentEvent, type Operation, type Part, partBytes, type Task } from "../envelope/index.js";

const encoder = new TextEncoder();
/** Overwritten at every use: only the byte count matters. */
const scratch = new Uint8Array(16 * 1024);

/** UTF-8 length. A lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = 0;
  let read = 0;
  while (read < text.length) {
    const step = encoder.encodeInto(read === 0 ? text : text.slice(read), scratch);
    bytes += step.written;
    read += step.read;
  }
  return bytes;
}

/** Authored content: text, bytes, URL, or the JSON of data; without names, media types and metadata. */
export function partsBytes(parts: readonly Part[]): number {
  let bytes = 0;
  for (const part of parts) bytes += partBytes(part);
  return bytes;
}

/** Content bytes sent with an operation. */
export function sentContentBytes(operation: Operation): number {
  return operation.kind === "send" ? partsBytes(operation.envelope.content) : 0;
}

/** Content bytes received with an event. History was counted before. */
export function receivedContentBytes(event: AgentEvent): number {
  switch (event.kind) {
    case "message":
      return partsBytes(event.message.content);
    case "status":
      return partsBytes(event.status.message?.content ?? []);
    case "artifact":
      return partsBytes(event.artifact.parts);
    case "task":
      return taskBytes(event.task);
    case "tasks":
      return event.tasks.reduce((bytes, task) => bytes + taskBytes(task), 0);
    case "push":
    case "pushes":
    case "card":
    case "done":
      return 0;
    default:
      return event satisfies never;
  }
}

function taskBytes(task: Task): number {
  let bytes = partsBytes(task.status.message?.content ?? []);
  for (const artifact of task.artifacts) bytes += partsBytes(artifact.parts);
  return bytes;
}
