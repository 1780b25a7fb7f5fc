import { AgentError, dataPart, type Json, type LossSink, type Part, partBytes, textPart } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { INNER_JSON_LIMITS, readJson } from "../../../transport/json.js";

const encoder = new TextEncoder();

/**
 * Content as the single text beside the full envelope, for Koine peers: all texts joined by newlines, or a lone data part as JSON.
 * Empty for other content.
 */
export function bodyOf(parts: readonly Part[]): string {
  const only = parts[0];
  if (only !== undefined && parts.length === 1) {
    if (only.kind === "text") return only.text;
    return only.kind === "data" ? JSON.stringify(only.data) : "";
  }
  const texts: string[] = [];
  for (const part of parts) if (part.kind === "text") texts.push(part.text);
  return texts.join("\n");
}

/**
 * Content for peers that read only the body. Texts, JSON and links have a line each, and bytes a line that says what is missing.
 * Throws if nothing of the content can be text, or a document requires JSON and the content is not one value: an empty body would
 * pass for a success.
 */
export function plainBodyOf(parts: readonly Part[], json: boolean, what: "the message" | "the answer"): string {
  const only = parts[0];
  if (parts.length === 1 && (only?.kind === "text" || only?.kind === "data")) return bodyOf(parts);
  if (parts.every(({ kind }) => kind === "text")) return bodyOf(parts);
  if (json) return soleData(parts, what);
  if (parts.every(({ kind }) => kind === "raw"))
    throw noText(what, `${what} has no text, and Agora carries nothing else: ${parts.map(sizeOf).join("; ")}`);
  return parts.map(lineOf).join("\n");
}

/** A text beside the value is an explanation that the document has no room for; a link or bytes are content. */
function soleData(parts: readonly Part[], what: "the message" | "the answer"): string {
  const found = parts.filter(({ kind }) => kind !== "text");
  const [value] = found;
  if (found.length === 1 && value?.kind === "data") return JSON.stringify(value.data);
  const kinds = parts.map(({ kind }) => kind).join(", ");
  throw noText(what, `the protocol document requires one JSON value, and ${what} has these parts: ${kinds}`);
}

function lineOf(part: Part): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "data":
      return JSON.stringify(part.data);
    case "url":
      return part.url;
    case "raw":
      return `[not included, because Agora carries text only: ${sizeOf(part)}]`;
    default:
      return part satisfies never;
  }
}

function sizeOf(part: Part): string {
  const { name, mediaType = "application/octet-stream" } = part;
  return [...(name === undefined ? [] : [JSON.stringify(name)]), mediaType, `${partBytes(part)} bytes`].join(", ");
}

function noText(what: "the message" | "the answer", words: string): AgentError {
  return what === "the message"
    ? new AgentError("unsupported_content", words, { sent: "no" })
    : new AgentError("unsupported", `${words}; call this agent with another protocol`);
}

/** Decodes a body: as text, or as JSON if the document declares JSON. */
export function partsOfBody(body: string, json: boolean): readonly Part[] {
  if (!json) return [textPart(body)];
  // The request was scanned before it was parsed, but not inside its strings.
  try {
    return [dataPart(readJson(encoder.encode(body), INNER_JSON_LIMITS) as Json)]; // fresh out of JSON.parse
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    if (code === "too_large") throw new DecodeProblem("body", `is too large: ${message}`, code);
    throw new DecodeProblem("body", "must be JSON text, as the protocol document requires");
  }
}

/** Whether the text body carries the complete content: a single text part without name or metadata. */
export function isPlainText(parts: readonly Part[]): boolean {
  const only = parts[0];
  return parts.length === 1 && only?.kind === "text" && isBare(only);
}

/** Whether a JSON body carries the complete content. */
export function isPlainData(parts: readonly Part[]): boolean {
  const only = parts[0];
  return parts.length === 1 && only?.kind === "data" && isBare(only);
}

/** Whether a part has only its content. */
export function isBare(part: Part): boolean {
  return part.name === undefined && part.mediaType === undefined && part.metadata === undefined;
}

/** Reports the content that is lost for peers that read only the body. */
export function reportContentLoss(parts: readonly Part[], json: boolean, reportLoss: LossSink): void {
  let texts = 0;
  for (const [index, part] of parts.entries()) {
    const path = `message.parts[${index}]`;
    const reason = part.kind === "text" && texts++ === 0 ? undefined : reasonOf(part, parts.length === 1, json);
    if (reason !== undefined) reportLoss({ protocol: "agora", path, valueKind: part.kind, reason });
    else reportMemberLosses(part, path, reportLoss);
  }
}

function reasonOf({ kind }: Part, alone: boolean, json: boolean): string | undefined {
  if (kind === "text") return "Agora has a single text body: the text is appended as a further line";
  if (kind === "raw") return "Agora carries text only";
  if (kind === "url") return "sent as the text of its link";
  return alone && json ? undefined : "sent as JSON text";
}

function reportMemberLosses(part: Part, path: string, reportLoss: LossSink): void {
  for (const member of ["name", "mediaType", "metadata"] as const) {
    if (part[member] === undefined) continue;
    reportLoss({
      protocol: "agora",
      path: `${path}.${member}`,
      valueKind: typeof part[member],
      reason: "a body has no additional members",
    });
  }
}
