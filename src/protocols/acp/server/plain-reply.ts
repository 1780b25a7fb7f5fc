import {
  AgentError,
  type AgentEvent,
  ERRORS,
  encodeBase64,
  isTerminal,
  type JsonObject,
  type Maybe,
  type Part,
  type Status,
  type Task,
  textOf,
} from "../../../envelope/index.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { errorHeaders, jsonResponse } from "../../../transport/response.js";
import { runStatusOf } from "../codec/state.js";
import { errorStatus } from "../errors.js";
import { taskOf } from "./request-context.js";

/** The answer as a completed task, if it is a message. */
export function answeredTask(event: AgentEvent): Task {
  if (event.kind !== "message") return taskOf(event);
  const { message } = event;
  const status = { state: "completed", at: Math.round(message.ts * 1000), message } as const;
  const { taskId = message.id, sessionId = "" } = message.context;
  return { id: taskId, contextId: sessionId, status, artifacts: [], history: [] };
}

/** The artifacts, then the final message. */
export function resultsOf({ artifacts, status }: Task): readonly JsonObject[] {
  return [...artifacts.flatMap(({ parts }) => resultsIn(parts, status.at)), ...lastText(status)];
}

/** Intermediate messages are progress; the failure message is the error. */
function lastText(status: Status): readonly JsonObject[] {
  if (!isTerminal(status.state) && runStatusOf(status.state) !== "awaiting") return [];
  return failureIn(status) === undefined ? resultsIn(status.message?.content ?? [], status.at) : [];
}

/** Chunks of one text are joined: readers of the reference code take the first result for the whole answer. */
function resultsIn(parts: readonly Part[], at: number): readonly JsonObject[] {
  const timestamp = at / 1000;
  const results: JsonObject[] = [];
  let text: Maybe<string>;
  for (const part of parts) {
    if (part.kind === "text") {
      text = (text ?? "") + part.text;
      continue;
    }
    if (text !== undefined) results.push({ type: "text", content: text, timestamp });
    text = undefined;
    results.push({ ...resultOf(part), content_type: part.mediaType, name: part.name, timestamp });
  }
  if (text !== undefined) results.push({ type: "text", content: text, timestamp });
  return results;
}

function resultOf(part: Exclude<Part, { readonly kind: "text" }>): JsonObject {
  switch (part.kind) {
    case "data":
      return { type: "data", content: part.data };
    case "raw":
      return { type: "file", content: encodeBase64(part.bytes), content_encoding: "base64" };
    case "url":
      return { type: "file", url: part.url };
    default:
      return part satisfies never;
  }
}

/** The state of a run, and its error if it failed. */
export function standing(status: Status): JsonObject {
  return { status: runStatusOf(status.state), error: failureIn(status) };
}

function failureIn(status: Status): Maybe<JsonObject> {
  const message = textOf(status.message?.content ?? []);
  if (status.state === "rejected") return { code: ERRORS.invalid_message.face, reason: "rejected", message };
  if (status.state !== "failed") return undefined;
  const { code, message: why } = status.error ?? { code: "internal", message };
  return { code: ERRORS[code].face, reason: code, message: why };
}

/** The last progress message, and the number of events. */
export interface Progress {
  readonly entries: number;
  readonly content: Maybe<string>;
  readonly metadata: Maybe<JsonObject>;
}

export const NO_PROGRESS: Progress = Object.freeze({ entries: 0, content: undefined, metadata: undefined });

/** The progress of a task after one more event. */
export function progressAfter({ entries, content, metadata }: Progress, event: AgentEvent): Progress {
  if (event.kind !== "status" || event.status.state !== "working") return { entries: entries + 1, content, metadata };
  const { message } = event.status;
  return { entries: entries + 1, content: message && textOf(message.content), metadata: event.metadata };
}

/** Converts a task event to events of the plain stream: results, then the state. */
export function streamItems(event: AgentEvent, now: number): readonly JsonObject[] {
  switch (event.kind) {
    case "message":
    case "task": {
      const task = answeredTask(event);
      return [...named(resultsOf(task), task.id), statusItem(task.id, task.status)];
    }
    case "artifact":
      return named(resultsIn(event.artifact.parts, now), event.taskId);
    case "status":
      return event.status.state === "working"
        ? named([progressItem(event.status, event.metadata)], event.taskId)
        : [...named(lastText(event.status), event.taskId), statusItem(event.taskId, event.status)];
    default:
      return [];
  }
}

/** Every item names its run, so that a reader can look for it after the stream broke. */
function named(items: readonly JsonObject[], runId: string): readonly JsonObject[] {
  return items.map((item) => ({ ...item, run_id: runId }));
}

function progressItem({ message, at }: Status, metadata: Maybe<JsonObject>): JsonObject {
  return { type: "progress", content: message && textOf(message.content), metadata, timestamp: at / 1000 };
}

function statusItem(runId: string, status: Status): JsonObject {
  return { type: "status", ...standing(status), run_id: runId, timestamp: status.at / 1000 };
}

/** The error reply, with the ids it belongs to. */
export function plainError({ face, code, message, facts }: AgentError, correlationId: Maybe<string>): JsonObject {
  return { error: { code: face, reason: code, message, field: facts.field }, correlation_id: correlationId };
}

export function refusePlain(error: AgentError, correlationId: Maybe<string>): HttpResponse {
  return jsonResponse(errorStatus(error), JSON.stringify(plainError(error, correlationId)), errorHeaders(error));
}

export function plainMethodNotAllowed(method: string, allow: readonly string[]): HttpResponse {
  const error = new AgentError("unsupported_method", `${method} is not allowed here; use ${allow.join(", ")}`);
  return jsonResponse(405, JSON.stringify(plainError(error, undefined)), { allow: allow.join(", ") });
}
