import {
  type Artifact,
  type Failure,
  isErrorCode,
  type Json,
  type JsonObject,
  type LossSink,
  type State,
  type Status,
  type Task,
} from "../../../src/envelope/index.js";
import { optional, readArray, readObject, readString, readText } from "../../../src/transport/fields.js";
import {
  type DecodeLimits,
  decodeMessage,
  decodeParts,
  encodeMessage,
  encodeParts,
  lose,
  readMetadata,
  readNumber,
  readOneOf,
} from "./message.js";

/** The wire has Koine's own states. */
export const STATES: readonly State[] = [
  "submitted",
  "working",
  "canceling",
  "unknown",
  "input-required",
  "auth-required",
  "completed",
  "canceled",
  "rejected",
  "failed",
];

export function encodeStatus(status: Status, path: string, reportLoss: LossSink): JsonObject {
  const { state, at, message } = status;
  return {
    state,
    at,
    message: message && encodeMessage(message, `${path}.message`, reportLoss),
    error: status.state === "failed" && status.error !== undefined ? { ...status.error } : undefined,
  };
}

export function decodeStatus(value: unknown, path: string, limits: DecodeLimits): Status {
  const wire = readObject(value, path);
  const state = readOneOf(STATES, wire["state"], `${path}.state`);
  const at = readNumber(wire["at"], `${path}.at`);
  const message = optional(wire["message"], `${path}.message`, (each, where) => decodeMessage(each, where, limits));
  if (state !== "failed") return { state, at, message };
  return { state, at, message, error: optional(wire["error"], `${path}.error`, decodeFailure) };
}

function decodeFailure(value: unknown, path: string): Failure {
  const { code, message } = readObject(value, path);
  return { code: isErrorCode(code) ? code : "internal", message: readString(message, `${path}.message`) };
}

export function encodeArtifact(artifact: Artifact, path: string, reportLoss: LossSink): JsonObject {
  const { id, name, description, parts, metadata, extensions } = artifact;
  lose(reportLoss, `${path}.extensions`, extensions, "the session toy has no extensions");
  const carried: Json = encodeParts(parts, `${path}.parts`, reportLoss);
  return { id, name, description, parts: carried, metadata };
}

export function decodeArtifact(value: unknown, path: string, limits: DecodeLimits): Artifact {
  const wire = readObject(value, path);
  return {
    id: readText(wire["id"], `${path}.id`),
    name: optional(wire["name"], `${path}.name`, readString),
    description: optional(wire["description"], `${path}.description`, readString),
    parts: decodeParts(wire["parts"], `${path}.parts`, limits),
    metadata: optional(wire["metadata"], `${path}.metadata`, readMetadata),
  };
}

export function encodeTask({ id, contextId, status, artifacts, history, metadata }: Task, reportLoss: LossSink): JsonObject {
  return {
    id,
    contextId,
    status: encodeStatus(status, "task.status", reportLoss),
    artifacts: artifacts.map((each, index) => encodeArtifact(each, `task.artifacts[${index}]`, reportLoss)),
    history: history.map((each, index) => encodeMessage(each, `task.history[${index}]`, reportLoss)),
    metadata,
  };
}

export function decodeTask(value: unknown, path: string, limits: DecodeLimits): Task {
  const wire = readObject(value, path);
  return {
    id: readText(wire["id"], `${path}.id`),
    contextId: readString(wire["contextId"], `${path}.contextId`),
    status: decodeStatus(wire["status"], `${path}.status`, limits),
    artifacts: readArray(wire["artifacts"], `${path}.artifacts`, (each, at) => decodeArtifact(each, at, limits)),
    history: readArray(wire["history"], `${path}.history`, (each, at) => decodeMessage(each, at, limits)),
    metadata: optional(wire["metadata"], `${path}.metadata`, readMetadata),
  };
}
