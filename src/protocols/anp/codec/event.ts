import { AgentError, type AgentEvent, type Cursor, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { DecodeProblem, optional, readArray, readBoolean, readObject, readString, readText } from "../../../transport/fields.js";
import { decodeCard, encodeCard } from "./card.js";
import { decodeMessage, encodeMessage } from "./message.js";
import type { DecodeFacts } from "./part.js";
import { readCount } from "./rpc-messages.js";
import { decodeArtifact, decodeStatus, decodeTask, encodeArtifact, encodeStatus, encodeTask } from "./task.js";

/** The event of a call: a member with the name of its kind. Throws `encode` for one that no method answers with. */
export function encodeEvent(event: AgentEvent): JsonObject {
  const { cursor } = event;
  switch (event.kind) {
    case "message":
      return { message: encodeMessage(event.message), cursor };
    case "task":
      return { task: encodeTask(event.task), cursor };
    case "status": {
      const { taskId, contextId, metadata, status } = event;
      return { status: encodeStatus(status), taskId, contextId, metadata, cursor };
    }
    case "artifact": {
      const { taskId, contextId, metadata, append, last, artifact } = event;
      return { artifact: encodeArtifact(artifact), append, last, taskId, contextId, metadata, cursor };
    }
    case "tasks": {
      const { tasks, nextPageToken, pageSize, totalSize } = event;
      return { tasks: tasks.map(encodeTask), nextPageToken, pageSize, totalSize };
    }
    case "card":
      return { card: encodeCard(event.card) };
    case "done":
      return { done: true };
    case "push":
    case "pushes":
      throw new AgentError("encode", "ANP has no push notifications");
    default:
      return event satisfies never;
  }
}

/** Throws DecodeProblem. */
export function decodeEvent(wire: JsonObject, facts: DecodeFacts): AgentEvent {
  const cursor = optional(wire["cursor"], "cursor", readText) as Maybe<Cursor>; // opaque: the peer reads it
  if (wire["message"] !== undefined)
    return { kind: "message", cursor, message: decodeMessage(wire["message"], "message", facts) };
  if (wire["task"] !== undefined) return { kind: "task", cursor, task: decodeTask(wire["task"], "task", facts) };
  if (wire["status"] !== undefined)
    return { kind: "status", cursor, ...ofTask(wire), status: decodeStatus(wire["status"], "status", facts) };
  if (wire["artifact"] !== undefined)
    return {
      kind: "artifact",
      cursor,
      ...ofTask(wire),
      artifact: decodeArtifact(wire["artifact"], "artifact", facts),
      append: readBoolean(wire["append"], "append"),
      last: readBoolean(wire["last"], "last"),
    };
  if (wire["tasks"] !== undefined)
    return {
      kind: "tasks",
      tasks: readArray(wire["tasks"], "tasks", (each, at) => decodeTask(each, at, facts)),
      nextPageToken: readString(wire["nextPageToken"], "nextPageToken"),
      pageSize: readCount(wire["pageSize"], "pageSize"),
      totalSize: readCount(wire["totalSize"], "totalSize"),
    };
  if (wire["card"] !== undefined) return { kind: "card", card: decodeCard(readObject(wire["card"], "card"), "card") };
  if (wire["done"] === true) return { kind: "done" };
  throw new DecodeProblem("", "is not an event: it has none of message, task, status, artifact, tasks, card, done");
}

function ofTask(wire: JsonObject) {
  return {
    taskId: readText(wire["taskId"], "taskId"),
    contextId: readString(wire["contextId"], "contextId"),
    metadata: optional(wire["metadata"], "metadata", readObject),
  };
}
