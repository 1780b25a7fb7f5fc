import { AgentError, dataPart, type Json, type LossSink, type Part, textPart } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";

const encoder = new TextEncoder();

/**
 * Content as the single text that Agora carries: all texts joined by newlines, or a lone data part as JSON. Undefined for other
 * content.
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

/** Decodes a body: as text, or as JSON if the document declares JSON. */
export function partsOfBody(body: string, json: boolean): readonly Part[] {
  if (!json) return [textPart(body)];
  // The request was scanned before it was parsed, but not inside its strings.
  try {
    return [dataPart(readJson(encoder.encode(body), DEFAULT_LIMITS) as Json)]; // fresh out of JSON.parse
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
  if (kind !== "data") return "Agora carries text only";
  if (!alone) return "Agora has a single text body, and it is already used";
  return json ? undefined : "sent as JSON text";
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
