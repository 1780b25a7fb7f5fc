import { AgentError, type AgentEvent, type Cursor, type JsonObject, type LossSink } from "../../../src/envelope/index.js";
import {
  DecodeProblem,
  optional,
  readArray,
  readBoolean,
  readObject,
  readString,
  readText,
} from "../../../src/transport/fields.js";
import { readCount } from "../wire.js";
import { decodeCard, encodeCard } from "./card.js";
import { type DecodeLimits, decodeMessage, encodeMessage, readMetadata } from "./message.js";
import { decodeArtifact, decodeStatus, decodeTask, encodeArtifact, encodeStatus, encodeTask } from "./task.js";

/** An event of an answer. Throws AgentError `encode` for one that no operation of the wire has. */
export function encodeEvent(event: AgentEvent, reportLoss: LossSink): JsonObject {
  const { kind, cursor } = event;
  switch (event.kind) {
    case "message":
      return { kind, cursor, message: encodeMessage(event.message, "message", reportLoss) };
    case "task":
      return { kind, cursor, task: encodeTask(event.task, reportLoss) };
    case "status": {
      const { taskId, contextId, metadata } = event;
      return { kind, cursor, taskId, contextId, metadata, status: encodeStatus(event.status, "task.status", reportLoss) };
    }
    case "artifact": {
      const { taskId, contextId, metadata, append, last } = event;
      const artifact = encodeArtifact(event.artifact, "artifact", reportLoss);
      return { kind, cursor, taskId, contextId, metadata, artifact, append, last };
    }
    case "tasks": {
      const { tasks, nextPageToken, pageSize, totalSize } = event;
      return { kind, tasks: tasks.map((task) => encodeTask(task, reportLoss)), nextPageToken, pageSize, totalSize };
    }
    case "card":
      return { kind, card: encodeCard(event.card) };
    case "done":
      return { kind };
    case "push":
    case "pushes":
      throw new AgentError("encode", "the session toy has no push notifications");
    default:
      return event satisfies never;
  }
}

export function decodeEvent(wire: JsonObject, limits: DecodeLimits): AgentEvent {
  const cursor = optional(wire["cursor"], "event.cursor", readText) as Cursor | undefined; // opaque: the peer reads it
  switch (wire["kind"]) {
    case "message":
      return { kind: "message", cursor, message: decodeMessage(wire["message"], "event.message", limits) };
    case "task":
      return { kind: "task", cursor, task: decodeTask(wire["task"], "event.task", limits) };
    case "status":
      return { kind: "status", cursor, ...ofTask(wire), status: decodeStatus(wire["status"], "event.status", limits) };
    case "artifact":
      return {
        kind: "artifact",
        cursor,
        ...ofTask(wire),
        artifact: decodeArtifact(wire["artifact"], "event.artifact", limits),
        append: readBoolean(wire["append"], "event.append"),
        last: readBoolean(wire["last"], "event.last"),
      };
    case "tasks":
      return {
        kind: "tasks",
        tasks: readArray(wire["tasks"], "event.tasks", (each, at) => decodeTask(each, at, limits)),
        nextPageToken: readString(wire["nextPageToken"], "event.nextPageToken"),
        pageSize: readCount(wire["pageSize"], "event.pageSize"),
        totalSize: readCount(wire["totalSize"], "event.totalSize"),
      };
    case "card":
      return { kind: "card", card: decodeCard(readObject(wire["card"], "event.card"), "event.card") };
    case "done":
      return { kind: "done" };
    default:
      throw new DecodeProblem("event.kind", "is not a kind of event of the session toy");
  }
}

function ofTask(wire: JsonObject) {
  return {
    taskId: readText(wire["taskId"], "event.taskId"),
    contextId: readString(wire["contextId"], "event.contextId"),
    metadata: optional(wire["metadata"], "event.metadata", readMetadata),
  };
}
