import type { Artifact, Envelope, Part, Proof, Task, TaskEvent } from "../../envelope/index.js";

/** How bytes are written inside JSON. Only looked for where bytes may stand, so an agent's own data may use the name. */
const BYTES = "$base64";

/** What a durable store writes: the value itself as JSON, with bytes as base64. */
export function storedText(value: TaskEvent | Envelope | Task): string {
  return JSON.stringify(value, hasBytes(value) ? bytesAsText : undefined);
}

export function eventFrom(text: string): TaskEvent {
  const event: TaskEvent = JSON.parse(text);
  if (!text.includes(BYTES)) return event;
  switch (event.kind) {
    case "task":
      return { ...event, task: reviveTask(event.task) };
    case "status":
      return { ...event, status: reviveStatus(event.status) };
    case "artifact":
      return { ...event, artifact: reviveArtifact(event.artifact) };
    default:
      return event satisfies never;
  }
}

export function messageFrom(text: string): Envelope {
  const message: Envelope = JSON.parse(text);
  return text.includes(BYTES) ? reviveMessage(message) : message;
}

export function taskFrom(text: string): Task {
  const task: Task = JSON.parse(text);
  return text.includes(BYTES) ? reviveTask(task) : task;
}

/** Most content is text; only content with bytes needs a full walk. */
function hasBytes(value: TaskEvent | Envelope | Task): boolean {
  if ("content" in value) return messageHasBytes(value);
  if (!("kind" in value)) return taskHasBytes(value);
  switch (value.kind) {
    case "task":
      return taskHasBytes(value.task);
    case "status":
      return value.status.message !== undefined && messageHasBytes(value.status.message);
    case "artifact":
      return value.artifact.parts.some(isRaw);
    default:
      return value satisfies never;
  }
}

function taskHasBytes({ status, artifacts, history }: Task): boolean {
  return (
    (status.message !== undefined && messageHasBytes(status.message)) ||
    artifacts.some(({ parts }) => parts.some(isRaw)) ||
    history.some(messageHasBytes)
  );
}

function messageHasBytes({ content, proofs }: Envelope): boolean {
  return content.some(isRaw) || (proofs !== undefined && proofs.length > 0);
}

function isRaw({ kind }: Part): boolean {
  return kind === "raw";
}

function bytesAsText(this: { readonly [member: string]: unknown }, key: string, written: unknown): unknown {
  // A Buffer was already converted by its `toJSON`; the original is still at its place.
  const value = this[key];
  if (!(value instanceof Uint8Array)) return written;
  return { [BYTES]: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
}

function reviveTask(task: Task): Task {
  return {
    ...task,
    status: reviveStatus(task.status),
    artifacts: task.artifacts.map(reviveArtifact),
    history: task.history.map(reviveMessage),
  };
}

function reviveStatus<S extends Task["status"]>(status: S): S {
  return status.message === undefined ? status : { ...status, message: reviveMessage(status.message) };
}

function reviveArtifact(artifact: Artifact): Artifact {
  return { ...artifact, parts: artifact.parts.map(revivePart) };
}

function reviveMessage(message: Envelope): Envelope {
  const content = message.content.map(revivePart);
  return message.proofs === undefined
    ? { ...message, content }
    : { ...message, content, proofs: message.proofs.map(reviveProof) };
}

function revivePart(part: Part): Part {
  return part.kind === "raw" ? { ...part, bytes: bytesFrom(part.bytes) } : part;
}

function reviveProof(proof: Proof): Proof {
  return { ...proof, signed: bytesFrom(proof.signed), signature: bytesFrom(proof.signature) };
}

function bytesFrom(written: unknown): Uint8Array {
  const text = typeof written === "object" && written !== null && BYTES in written ? written[BYTES] : undefined;
  return new Uint8Array(Buffer.from(typeof text === "string" ? text : "", "base64"));
}
