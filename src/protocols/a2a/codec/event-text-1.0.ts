import type { AgentEvent, Envelope, LossSink, Maybe, Part } from "../../../envelope/index.js";
import { carriedFrom } from "../../../transport/carried.js";
import { jsonString } from "../../../transport/json-string.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import { writeStreamItem } from "./result-1.0.js";
import { writeState } from "./state.js";

/**
 * An event of a stream, or the answer to a send, as JSON text: the same text as that of `writeStreamItem`. The usual ones, messages and
 * artifacts of text and changes of the state, are written directly: an object to stringify costs three times as much as the text.
 */
export function writeEventText(event: AgentEvent, reportLoss: LossSink): string {
  return usualText(event, reportLoss) ?? JSON.stringify(writeStreamItem(event, reportLoss));
}

/** Undefined for events with any of the rarer members. */
function usualText(event: AgentEvent, reportLoss: LossSink): Maybe<string> {
  switch (event.kind) {
    case "message":
      return messageText(event.message);
    case "status":
      return statusText(event, reportLoss);
    case "artifact":
      return artifactText(event);
    default:
      return undefined;
  }
}

function messageText(message: Envelope): Maybe<string> {
  const { id, role, content, context, metadata, extensions, references } = message;
  if (metadata !== undefined || extensions !== undefined || references !== undefined) return undefined;
  const texts = textParts(content);
  if (texts === undefined || carriedFrom(message, true) !== undefined) return undefined;
  const { sessionId, taskId } = context;
  const session = isAbsent(sessionId) ? "" : `,"contextId":${jsonString(sessionId)}`;
  const task = isAbsent(taskId) ? "" : `,"taskId":${jsonString(taskId)}`;
  const sender = role === "user" ? "ROLE_USER" : "ROLE_AGENT";
  return `{"message":{"messageId":${jsonString(id)}${session}${task},"role":"${sender}","parts":[${texts}]}}`;
}

function statusText(event: Extract<AgentEvent, { readonly kind: "status" }>, reportLoss: LossSink): Maybe<string> {
  const { state, at, message } = event.status;
  if (event.metadata !== undefined || message !== undefined || state === "failed") return undefined;
  const status = `{"state":"${writeState(state, reportLoss)}","timestamp":"${writeTimestamp(at)}"}`;
  return `{"statusUpdate":{${idMembers(event)},"status":${status}}}`;
}

function artifactText(event: Extract<AgentEvent, { readonly kind: "artifact" }>): Maybe<string> {
  const { id, name, description, parts, metadata, extensions } = event.artifact;
  if (event.metadata !== undefined || metadata !== undefined || extensions !== undefined) return undefined;
  if (!isAbsent(name) || !isAbsent(description)) return undefined;
  const texts = textParts(parts);
  if (texts === undefined) return undefined;
  const chunk = `${event.append ? ',"append":true' : ""}${event.last ? ',"lastChunk":true' : ""}`;
  return `{"artifactUpdate":{${idMembers(event)},"artifact":{"artifactId":${jsonString(id)},"parts":[${texts}]}${chunk}}}`;
}

function idMembers({ taskId, contextId }: { readonly taskId: string; readonly contextId: string }): string {
  return `"taskId":${jsonString(taskId)},"contextId":${jsonString(contextId)}`;
}

function textParts(parts: readonly Part[]): Maybe<string> {
  let written = "";
  for (const part of parts) {
    if (part.kind !== "text" || !isAbsent(part.mediaType) || !isAbsent(part.name) || part.metadata !== undefined)
      return undefined;
    written += `${written === "" ? "" : ","}{"text":${jsonString(part.text)}}`;
  }
  return written;
}

function isAbsent(text: Maybe<string>): text is undefined | "" {
  return text === undefined || text === "";
}
