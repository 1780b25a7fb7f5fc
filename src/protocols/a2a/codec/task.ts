import type { AgentEvent, Artifact, Envelope, JsonObject, LossSink, Maybe, Status, Task } from "../../../envelope/index.js";
import { isTerminal } from "../../../envelope/index.js";
import { DecodeProblem, kindOf, readObject, readText } from "../../../transport/fields.js";
import { parseTimestamp, TIMESTAMP_FORM, writeTimestamp } from "../../../transport/timestamp.js";
import type { DecodeFacts } from "../dialect.js";
import { decorativeMetadata, decorativeStrings, decorativeText, dropped, flag, plain, someOf, someText } from "../wire.js";
import { statusMessage, takeFailure } from "./failure.js";
import type { Form } from "./form.js";
import { readMessage, readParts, writeParts, writeReturned } from "./message.js";

type StatusEvent = Extract<AgentEvent, { readonly kind: "status" }>;
type ArtifactEvent = Extract<AgentEvent, { readonly kind: "artifact" }>;

export function readTask(form: Form, value: unknown, path: string, facts: DecodeFacts): Task {
  const object = readObject(value, path);
  const status = readStatus(form, object.status, `${path}.status`, facts);
  return {
    id: readText(object.id, `${path}.id`),
    // Required before 1.0.0, a plain field since: some servers omit it.
    contextId: plain(object.contextId ?? object.context_id, `${path}.contextId`) ?? "",
    status,
    artifacts: readList(object.artifacts, `${path}.artifacts`, (item, at) => readArtifact(form, item, at, facts)),
    // Messages without a time of their own were written at the latest with the status, not when they are read.
    history: readHistory(form, object.history, `${path}.history`, { ...facts, now: Math.min(facts.now, status.at) }),
    metadata: decorativeMetadata(object.metadata, `${path}.metadata`, facts.reportLoss),
  };
}

/** The history of a task contains messages in both directions. */
function readHistory(form: Form, value: unknown, path: string, facts: DecodeFacts): readonly Envelope[] {
  if (value === undefined || value === null) return [];
  const userFacts: DecodeFacts = { ...facts, src: facts.dst, dst: facts.src };
  return readList(value, path, (item, at) => {
    const role = form.readRole(readObject(item, at).role, `${at}.role`);
    return readMessage(form, item, at, role === "user" ? userFacts : facts);
  });
}

function readStatus(form: Form, value: unknown, path: string, facts: DecodeFacts): Status {
  const object = readObject(value, path);
  const state = form.readState(object.state, `${path}.state`);
  const at = readStamp(object.timestamp, `${path}.timestamp`, facts);
  // Early 0.3 protobuf named it `update`.
  const wireMessage = object.message ?? (form.content === "content" ? object.update : undefined);
  const message =
    wireMessage === undefined || wireMessage === null
      ? undefined
      : readMessage(form, wireMessage, `${path}.message`, { ...facts, now: at });
  if (state !== "failed") return { state, at, message };
  const failure = takeFailure(message, `${path}.message`);
  return { state, at, message: failure.message, error: failure.error };
}

/** The time of a status. Without a readable one it is that of arrival: some servers write times without a zone. */
function readStamp(stamp: unknown, path: string, { now, reportLoss }: DecodeFacts): number {
  if (stamp === undefined || stamp === null || stamp === "") return now;
  return parseTimestamp(stamp) ?? dropped(path, stamp, TIMESTAMP_FORM, reportLoss) ?? now;
}

function readArtifact(form: Form, value: unknown, path: string, facts: DecodeFacts): Artifact {
  const object = readObject(value, path);
  return {
    id: readText(object.artifactId ?? object.artifact_id, `${path}.artifactId`),
    name: decorativeText(object.name, `${path}.name`, facts.reportLoss),
    description: decorativeText(object.description, `${path}.description`, facts.reportLoss),
    parts: readParts(form, object.parts, `${path}.parts`, facts),
    metadata: decorativeMetadata(object.metadata, `${path}.metadata`, facts.reportLoss),
    extensions: decorativeStrings(object.extensions, `${path}.extensions`, facts.reportLoss),
  };
}

export function readStatusEvent(form: Form, value: unknown, path: string, facts: DecodeFacts): StatusEvent {
  const object = readObject(value, path);
  return {
    kind: "status",
    taskId: readText(object.taskId ?? object.task_id, `${path}.taskId`),
    contextId: plain(object.contextId ?? object.context_id, `${path}.contextId`) ?? "",
    metadata: decorativeMetadata(object.metadata, `${path}.metadata`, facts.reportLoss),
    status: readStatus(form, object.status, `${path}.status`, facts),
  };
}

export function readArtifactEvent(form: Form, value: unknown, path: string, facts: DecodeFacts): ArtifactEvent {
  const object = readObject(value, path);
  return {
    kind: "artifact",
    taskId: readText(object.taskId ?? object.task_id, `${path}.taskId`),
    contextId: plain(object.contextId ?? object.context_id, `${path}.contextId`) ?? "",
    metadata: decorativeMetadata(object.metadata, `${path}.metadata`, facts.reportLoss),
    artifact: readArtifact(form, object.artifact, `${path}.artifact`, facts),
    append: flag(object.append, `${path}.append`) ?? false,
    last: flag(object.lastChunk ?? object.last_chunk, `${path}.lastChunk`) ?? false,
  };
}

/** `artifacts`: whether the member is required, omitted, or written if not empty. */
export function writeTask(form: Form, task: Task, artifacts: Maybe<boolean>, reportLoss: LossSink): JsonObject {
  const kept = artifacts === false ? undefined : artifacts === true ? task.artifacts : someOf(task.artifacts);
  const message = statusMessage(task.status, task.id, task.contextId);
  return {
    kind: form.kinds ? "task" : undefined,
    id: task.id,
    contextId: someText(task.contextId),
    status: writeStatus(form, task.status, message, reportLoss),
    artifacts: kept?.map((artifact, index) => writeArtifact(form, artifact, `task.artifacts[${index}]`, reportLoss)),
    history: someOf(task.history)?.map((each, index) => writeReturned(form, each, `task.history[${index}]`, reportLoss)),
    metadata: task.metadata,
  };
}

function writeStatus(form: Form, status: Status, message: Maybe<Envelope>, reportLoss: LossSink): JsonObject {
  return {
    state: form.writeState(status.state, reportLoss),
    message: message === undefined ? undefined : writeReturned(form, message, "task.status.message", reportLoss),
    timestamp: writeTimestamp(status.at),
  };
}

function writeArtifact(form: Form, artifact: Artifact, path: string, reportLoss: LossSink): JsonObject {
  return {
    artifactId: artifact.id,
    name: someText(artifact.name),
    description: someText(artifact.description),
    parts: writeParts(form, artifact.parts, path, reportLoss),
    metadata: artifact.metadata,
    extensions: someOf(artifact.extensions),
  };
}

export function writeStatusEvent(form: Form, event: StatusEvent, reportLoss: LossSink): JsonObject {
  const { status, taskId, contextId } = event;
  const message = statusMessage(status, taskId, contextId);
  return {
    kind: form.kinds ? "status-update" : undefined,
    taskId,
    contextId,
    status: writeStatus(form, status, message, reportLoss),
    final: form.final ? isFinal(status) : undefined,
    metadata: event.metadata,
  };
}

export function writeArtifactEvent(form: Form, event: ArtifactEvent, reportLoss: LossSink): JsonObject {
  return {
    kind: form.kinds ? "artifact-update" : undefined,
    taskId: event.taskId,
    contextId: event.contextId,
    artifact: writeArtifact(form, event.artifact, "artifact", reportLoss),
    append: event.append ? true : undefined,
    lastChunk: event.last ? true : undefined,
    metadata: event.metadata,
  };
}

/**
 * The last event of a 0.3 stream: streams end at a terminal state or a question, and stay open while authentication is awaited.
 */
function isFinal({ state }: Status): boolean {
  return isTerminal(state) || state === "input-required";
}

function readList<T>(value: unknown, path: string, read: (value: unknown, path: string) => T): readonly T[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new DecodeProblem(path, `must be an array, not ${kindOf(value)}`);
  return value.map((item, index) => read(item, `${path}[${index}]`));
}
