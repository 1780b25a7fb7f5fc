import type { AgentEvent, LossSink, Maybe, Part } from "../../../envelope/index.js";
import { jsonString } from "../../../transport/json-string.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import { writeStreamItem } from "./result-1.0.js";
import { writeState } from "./state.js";

/**
 * One event of a stream as JSON text, the same text as that of `writeStreamItem`. The usual events, texts of an artifact and changes of the
 * state, are written directly: for those an object to stringify costs three times as much as the text.
 */
export function writeStreamText(event: AgentEvent, reportLoss: LossSink): string {
  return usualText(event, reportLoss) ?? JSON.stringify(writeStreamItem(event, reportLoss));
}

/** Undefined for events with any of the rarer members. */
function usualText(event: AgentEvent, reportLoss: LossSink): Maybe<string> {
  if ((event.kind !== "artifact" && event.kind !== "status") || event.metadata !== undefined) return undefined;
  const ids = `"taskId":${jsonString(event.taskId)},"contextId":${jsonString(event.contextId)}`;
  if (event.kind === "status") {
    const { state, at, message } = event.status;
    if (message !== undefined || state === "failed") return undefined;
    return `{"statusUpdate":{${ids},"status":{"state":"${writeState(state, reportLoss)}","timestamp":"${writeTimestamp(at)}"}}}`;
  }
  const { id, name, description, parts, metadata, extensions } = event.artifact;
  if (!isAbsent(name) || !isAbsent(description) || metadata !== undefined || extensions !== undefined) return undefined;
  const texts = textParts(parts);
  if (texts === undefined) return undefined;
  const chunk = `${event.append ? ',"append":true' : ""}${event.last ? ',"lastChunk":true' : ""}`;
  return `{"artifactUpdate":{${ids},"artifact":{"artifactId":${jsonString(id)},"parts":[${texts}]}${chunk}}}`;
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

function isAbsent(text: Maybe<string>): boolean {
  return text === undefined || text === "";
}
