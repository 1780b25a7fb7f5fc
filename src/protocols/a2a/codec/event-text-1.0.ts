import type { AgentEvent, Artifact, Envelope, LossSink, Maybe, Part, Status, Task } from "../../../envelope/index.js";
import { carriedFrom, carriedText } from "../../../transport/carried.js";
import { jsonCharacters, jsonString } from "../../../transport/json-string.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import { ENVELOPE_KEY } from "./envelope-extension.js";
import { writeStreamItem } from "./result-1.0.js";
import { writeState } from "./state.js";

type ArtifactEvent = Extract<AgentEvent, { readonly kind: "artifact" }>;

/**
 * An event of a stream, or the answer to a send, as JSON text: the same text as that of `writeStreamItem`. The usual ones, messages and
 * artifacts of text, changes of the state, and tasks of these, are written directly: an object to stringify costs three times as much.
 */
export function writeEventText(event: AgentEvent, reportLoss: LossSink): string {
  return usualText(event, reportLoss) ?? JSON.stringify(writeStreamItem(event, reportLoss));
}

/** Undefined for events with any of the rarer members. */
function usualText(event: AgentEvent, reportLoss: LossSink): Maybe<string> {
  switch (event.kind) {
    case "message": {
      const message = messageText(event.message, true);
      return message && `{"message":${message}}`;
    }
    case "task": {
      const task = taskText(event.task, reportLoss);
      return task && `{"task":${task}}`;
    }
    case "status": {
      const status = event.metadata === undefined ? statusText(event.status, reportLoss) : undefined;
      return status && `{"statusUpdate":{${idMembers(event)},"status":${status}}}`;
    }
    case "artifact": {
      const text = event.metadata === undefined ? onlyText(event.artifact) : undefined;
      if (text !== undefined) return `${chunkStart(event)}${jsonCharacters(text)}"}]}${chunkEnd(event)}`;
      const artifact = event.metadata === undefined ? artifactText(event.artifact) : undefined;
      return artifact && `{"artifactUpdate":{${idMembers(event)},"artifact":${artifact}${chunkEnd(event)}`;
    }
    default:
      return undefined;
  }
}

/** Undefined with any of the rarer members. `returned`: to its author. */
export function messageText(message: Envelope, returned: boolean): Maybe<string> {
  const { id, role, content, context, metadata, extensions, references } = message;
  if (metadata !== undefined || extensions !== undefined || references !== undefined) return undefined;
  const texts = listText(content, partText);
  if (texts === undefined) return undefined;
  const { sessionId, taskId } = context;
  const session = isAbsent(sessionId) ? "" : `,"contextId":${jsonString(sessionId)}`;
  const task = isAbsent(taskId) ? "" : `,"taskId":${jsonString(taskId)}`;
  const sender = role === "user" ? "ROLE_USER" : "ROLE_AGENT";
  const carried = carriedFrom(message, returned);
  const rest = carried === undefined ? "" : `,"metadata":{"${ENVELOPE_KEY}":${carriedText(carried)}}`;
  return `{"messageId":${jsonString(id)}${session}${task},"role":"${sender}","parts":[${texts}]${rest}}`;
}

function returnedText(message: Envelope): Maybe<string> {
  return messageText(message, true);
}

function taskText({ id, contextId, status, artifacts, history, metadata }: Task, reportLoss: LossSink): Maybe<string> {
  const results = listText(artifacts, artifactText);
  const messages = listText(history, returnedText);
  if (metadata !== undefined || results === undefined || messages === undefined) return undefined;
  // The last, because it reports losses.
  const state = statusText(status, reportLoss);
  const session = isAbsent(contextId) ? "" : `,"contextId":${jsonString(contextId)}`;
  const lists = `${results && `,"artifacts":[${results}]`}${messages && `,"history":[${messages}]`}`;
  return state && `{"id":${jsonString(id)}${session},"status":${state}${lists}}`;
}

function statusText({ state, at, message }: Status, reportLoss: LossSink): Maybe<string> {
  if (message !== undefined || state === "failed") return undefined;
  return `{"state":"${writeState(state, reportLoss)}","timestamp":"${writeTimestamp(at)}"}`;
}

function artifactText({ id, name, description, parts, metadata, extensions }: Artifact): Maybe<string> {
  if (metadata !== undefined || extensions !== undefined || !isAbsent(name) || !isAbsent(description)) return undefined;
  const texts = listText(parts, partText);
  return texts === undefined ? undefined : `{"artifactId":${jsonString(id)},"parts":[${texts}]}`;
}

/** The text of an artifact that has nothing else. */
function onlyText({ name, description, parts, metadata, extensions }: Artifact): Maybe<string> {
  const [part] = parts;
  if (part === undefined || parts.length > 1 || metadata !== undefined || extensions !== undefined) return undefined;
  return isAbsent(name) && isAbsent(description) && isPlain(part) ? part.text : undefined;
}

/** Those of the last event: the events of a burst are of one task, and most of its chunks of one artifact. */
let last = { taskId: "", contextId: "", members: '"taskId":"","contextId":""' };
let lastChunk = { members: "", artifactId: "", start: "" };

function idMembers({ taskId, contextId }: { readonly taskId: string; readonly contextId: string }): string {
  if (taskId !== last.taskId || contextId !== last.contextId)
    last = { taskId, contextId, members: `"taskId":${jsonString(taskId)},"contextId":${jsonString(contextId)}` };
  return last.members;
}

/** Up to the first character of the text. */
function chunkStart(event: ArtifactEvent): string {
  const { id: artifactId } = event.artifact;
  const members = idMembers(event);
  if (members !== lastChunk.members || artifactId !== lastChunk.artifactId) {
    const start = `{"artifactUpdate":{${members},"artifact":{"artifactId":${jsonString(artifactId)},"parts":[{"text":"`;
    lastChunk = { members, artifactId, start };
  }
  return lastChunk.start;
}

/** What follows the artifact. */
function chunkEnd({ append, last: isLast }: ArtifactEvent): string {
  if (append) return isLast ? ',"append":true,"lastChunk":true}}' : ',"append":true}}';
  return isLast ? ',"lastChunk":true}}' : "}}";
}

function isPlain(part: Part): part is Part & { readonly kind: "text" } {
  return part.kind === "text" && isAbsent(part.mediaType) && isAbsent(part.name) && part.metadata === undefined;
}

function partText(part: Part): Maybe<string> {
  return isPlain(part) ? `{"text":${jsonString(part.text)}}` : undefined;
}

/** The items with commas between them; undefined if one of them is not usual. */
function listText<T>(items: readonly T[], textOf: (item: T) => Maybe<string>): Maybe<string> {
  let written = "";
  for (const item of items) {
    const text = textOf(item);
    if (text === undefined) return undefined;
    written += written === "" ? text : `,${text}`;
  }
  return written;
}

function isAbsent(text: Maybe<string>): text is undefined | "" {
  return text === undefined || text === "";
}
