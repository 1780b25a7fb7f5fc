import {
  type AgentEvent,
  type Artifact,
  answerText,
  artifactText,
  type Envelope,
  ERRORS,
  type Json,
  type JsonObject,
  type Part,
  type Status,
  type Task,
  textOf,
  writeUte,
} from "../../src/index.js";

/**
 * Events as the neutral JSON of `-o json`: the names of UTE JSON, whatever the protocol. Messages are UTE
 * documents, times are seconds, raw bytes are base64, and `text` is what the text mode would print.
 */
export function eventJson(event: AgentEvent): JsonObject {
  return withoutUndefined({ kind: event.kind, ...members(event), cursor: event.cursor, head: event.head });
}

function members(event: AgentEvent): JsonObject {
  switch (event.kind) {
    case "message":
      return { text: textOf(event.message.content), message: messageJson(event.message) };
    case "task":
      return { text: answerText(event.task), task: taskJson(event.task) };
    case "status":
      return {
        task_id: event.taskId,
        session_id: event.contextId,
        text: textOf(event.status.message?.content ?? []),
        ...statusJson(event.status),
        metadata: event.metadata,
      };
    case "artifact":
      return {
        task_id: event.taskId,
        session_id: event.contextId,
        text: artifactText(event.artifact.parts),
        artifact: artifactJson(event.artifact),
        append: event.append,
        last: event.last,
        metadata: event.metadata,
      };
    case "tasks":
      return {
        tasks: event.tasks.map(taskJson),
        next_page_token: event.nextPageToken,
        page_size: event.pageSize,
        total_size: event.totalSize,
      };
    case "card":
      return { name: event.card.name, description: event.card.description, version: event.card.version };
    // Secrets of push configurations are never printed, and no command asks for them.
    case "push":
    case "pushes":
    case "done":
      return {};
    default:
      return event satisfies never;
  }
}

function taskJson(task: Task): JsonObject {
  return withoutUndefined({
    id: task.id,
    session_id: task.contextId,
    ...statusJson(task.status),
    artifacts: task.artifacts.map(artifactJson),
    history: task.history.map(messageJson),
    metadata: task.metadata,
  });
}

function statusJson(status: Status): JsonObject {
  const error = status.state === "failed" ? status.error : undefined;
  return {
    state: status.state,
    at: status.at / 1000,
    status_message: status.message === undefined ? undefined : messageJson(status.message),
    error: error === undefined ? undefined : { code: error.code, face: ERRORS[error.code].face, message: error.message },
  };
}

function artifactJson(artifact: Artifact): JsonObject {
  return withoutUndefined({
    id: artifact.id,
    name: artifact.name,
    description: artifact.description,
    parts: artifact.parts.map(partJson),
    metadata: artifact.metadata,
    extensions: artifact.extensions,
  });
}

/** No size limit: content from the wire has passed the limits already. */
function messageJson(message: Envelope): JsonObject {
  return writeUte(message, { inlineBytes: Number.POSITIVE_INFINITY });
}

function partJson(part: Part): JsonObject {
  return withoutUndefined({ ...contentOf(part), media_type: part.mediaType, name: part.name, metadata: part.metadata });
}

function contentOf(part: Part): { readonly [kind: string]: Json } {
  switch (part.kind) {
    case "text":
      return { text: part.text };
    case "data":
      return { data: part.data };
    case "raw":
      return { raw: Buffer.from(part.bytes).toString("base64") };
    case "url":
      return { url: part.url };
    default:
      return part satisfies never;
  }
}

function withoutUndefined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
