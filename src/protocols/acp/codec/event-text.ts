import { jsonString } from "../../../transport/json-string.js";
import type { WireEvent, WireMessage, WirePart, WireRun, WireRunRequest } from "../wire.js";

/**
 * An event of a run as JSON text: the same text as that of `JSON.stringify`. Parts are nearly all of it, the end of a message and of the
 * run repeat them, and those of text are written directly, which costs a third.
 */
export function eventText(event: WireEvent): string {
  switch (event.type) {
    case "message.part":
      return `{"type":"message.part","part":${partText(event.part)}}`;
    case "message.created":
    case "message.completed":
      return `{"type":"${event.type}","message":${messageText(event.message)}}`;
    case "run.created":
    case "run.in-progress":
    case "run.completed":
      // A run in progress may have members of Koine beside it.
      return hasMore(event, EVENT_MEMBERS) ? JSON.stringify(event) : `{"type":"${event.type}","run":${runText(event.run)}}`;
    default:
      return JSON.stringify(event);
  }
}

/** A run as JSON text. */
export function runText(run: WireRun): string {
  const { run_id, agent_name, session_id, status, await_request, output, error, created_at, finished_at } = run;
  if (session_id === undefined || await_request !== null || error !== null || finished_at === undefined)
    return JSON.stringify(run);
  const names = `"run_id":${jsonString(run_id)},"agent_name":${jsonString(agent_name)},"session_id":${textOrNull(session_id)}`;
  const times = `"created_at":${jsonString(created_at)},"finished_at":${textOrNull(finished_at)}`;
  return `{${names},"status":"${status}","await_request":null,"output":[${listText(output, messageText)}],"error":null,${times}}`;
}

/** The body that starts a run as JSON text. */
export function runRequestText(body: WireRunRequest): string {
  const { agent_name, input, session_id, session, mode } = body;
  const [message] = input;
  // Earlier messages are repeated as they came, with members that are not known.
  if (message === undefined || input.length > 1 || session !== undefined) return JSON.stringify(body);
  const named = session_id === undefined ? "" : `,"session_id":${jsonString(session_id)}`;
  return `{"agent_name":${jsonString(agent_name)},"input":[${messageText(message)}]${named},"mode":"${mode}"}`;
}

function messageText(message: WireMessage): string {
  const { role, parts, created_at, completed_at } = message;
  if (created_at === undefined || completed_at === undefined) return JSON.stringify(message);
  const times = `"created_at":${textOrNull(created_at)},"completed_at":${textOrNull(completed_at)}`;
  return `{"role":${jsonString(role)},"parts":[${listText(parts, partText)}],${times}}`;
}

function partText(part: WirePart): string {
  const { name, content_type, content, content_encoding, content_url, metadata } = part;
  if (
    name === undefined ||
    typeof content !== "string" ||
    content_url !== null ||
    metadata !== null ||
    hasMore(part, PART_MEMBERS)
  )
    return JSON.stringify(part);
  const texts = `"content_type":${jsonString(content_type)},"content":${jsonString(content)},"content_encoding":"${content_encoding}"`;
  return `{"name":${textOrNull(name)},${texts},"content_url":null,"metadata":null}`;
}

const PART_MEMBERS = 6;
const EVENT_MEMBERS = 2;

/** Members of Koine, or unknown ones of another hop. */
function hasMore(object: object, than: number): boolean {
  let members = 0;
  for (const _ in object) members++;
  return members > than;
}

function textOrNull(text: string | null): string {
  return text === null ? "null" : jsonString(text);
}

function listText<T>(items: readonly T[], textOf: (item: T) => string): string {
  let written = "";
  for (const item of items) written += written === "" ? textOf(item) : `,${textOf(item)}`;
  return written;
}
