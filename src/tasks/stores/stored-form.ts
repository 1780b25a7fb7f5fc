import type { Artifact, Envelope, Part, Proof, Task, TaskEvent } from "../../envelope/index.js";

/** How bytes are written inside JSON. Only looked for where bytes may stand, so an agent's own data may use the name. */
const BYTES = "$base64";

/** What a durable store writes: the value itself as JSON, with bytes as base64. */
export function storedText(value: TaskEvent | Envelope | Task): string {
  return JSON.stringify(value, hasBytes(value) ? bytesAsText : undefined);
}

/** The ids of a task and of its session, which a journal need not repeat in every entry. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

/** An entry without the ids, for a store that has them beside it. */
export function storedEntry(event: TaskEvent): string {
  return JSON.stringify(withoutIds(event), hasBytes(event) ? bytesAsText : undefined);
}

/** Entries of earlier versions have the ids too. */
export function entryFrom(text: string, { taskId, contextId }: TaskIds): TaskEvent {
  const event = eventFrom(text);
  if (event.kind === "task") return { kind: "task", task: { ...event.task, id: taskId, contextId } };
  return { ...event, taskId, contextId };
}

/** Member by member: a spread costs several times as much, and this runs for every entry. Undefined members are not written. */
function withoutIds(event: TaskEvent): object {
  const { kind } = event;
  switch (kind) {
    case "task": {
      const { status, artifacts, history, metadata } = event.task;
      return { kind, task: { status, artifacts, history, metadata } };
    }
    case "status":
      return { kind, status: event.status, metadata: event.metadata };
    case "artifact": {
      const { artifact, append, last, metadata } = event;
      return { kind, artifact, append, last, metadata };
    }
    default:
      return event satisfies never;
  }
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
