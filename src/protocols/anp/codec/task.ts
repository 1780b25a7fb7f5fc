import {
  type Artifact,
  type Failure,
  isErrorCode,
  type JsonObject,
  type State,
  type Status,
  type Task,
} from "../../../envelope/index.js";
import { DecodeProblem, optional, readArray, readObject, readString, readStrings, readText } from "../../../transport/fields.js";
import { decodeMessage, encodeMessage } from "./message.js";
import { type DecodeFacts, decodeParts, encodeParts } from "./part.js";

/** Koine's own states, because ANP has no tasks. */
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

export function encodeStatus(status: Status): JsonObject {
  const { state, at, message } = status;
  return {
    state,
    at,
    message: message && encodeMessage(message),
    error: status.state === "failed" && status.error !== undefined ? { ...status.error } : undefined,
  };
}

export function decodeStatus(value: unknown, path: string, facts: DecodeFacts): Status {
  const wire = readObject(value, path);
  const state = readOneOf(STATES, wire["state"], `${path}.state`);
  const at = readNumber(wire["at"], `${path}.at`);
  const message = optional(wire["message"], `${path}.message`, (each, where) => decodeMessage(each, where, facts));
  if (state !== "failed") return { state, at, message };
  return { state, at, message, error: optional(wire["error"], `${path}.error`, decodeFailure) };
}

function decodeFailure(value: unknown, path: string): Failure {
  const { code, message } = readObject(value, path);
  return { code: isErrorCode(code) ? code : "internal", message: readString(message, `${path}.message`) };
}

export function encodeArtifact({ id, name, description, parts, metadata, extensions }: Artifact): JsonObject {
  return { id, name, description, parts: encodeParts(parts) as readonly JsonObject[], metadata, extensions };
}

export function decodeArtifact(value: unknown, path: string, facts: DecodeFacts): Artifact {
  const wire = readObject(value, path);
  return {
    id: readText(wire["id"], `${path}.id`),
    name: optional(wire["name"], `${path}.name`, readString),
    description: optional(wire["description"], `${path}.description`, readString),
    parts: decodeParts(wire["parts"], `${path}.parts`, facts),
    metadata: optional(wire["metadata"], `${path}.metadata`, readObject),
    extensions: optional(wire["extensions"], `${path}.extensions`, readStrings),
  };
}

export function encodeTask({ id, contextId, status, artifacts, history, metadata }: Task): JsonObject {
  return {
    id,
    contextId,
    status: encodeStatus(status),
    artifacts: artifacts.length === 0 ? undefined : artifacts.map(encodeArtifact),
    history: history.length === 0 ? undefined : history.map(encodeMessage),
    metadata,
  };
}

export function decodeTask(value: unknown, path: string, facts: DecodeFacts): Task {
  const wire = readObject(value, path);
  const artifacts = (list: unknown, at: string) => readArray(list, at, (each, where) => decodeArtifact(each, where, facts));
  const history = (list: unknown, at: string) => readArray(list, at, (each, where) => decodeMessage(each, where, facts));
  return {
    id: readText(wire["id"], `${path}.id`),
    contextId: readString(wire["contextId"], `${path}.contextId`),
    status: decodeStatus(wire["status"], `${path}.status`, facts),
    artifacts: optional(wire["artifacts"], `${path}.artifacts`, artifacts) ?? [],
    history: optional(wire["history"], `${path}.history`, history) ?? [],
    metadata: optional(wire["metadata"], `${path}.metadata`, readObject),
  };
}

export function readOneOf<T extends string>(words: readonly T[], value: unknown, path: string): T {
  const word = words.find((each) => each === value);
  if (word === undefined) throw new DecodeProblem(path, `must be one of ${words.join(", ")}`);
  return word;
}

export function readNumber(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new DecodeProblem(path, "must be a number");
}
