import { dataPart, type Json, type LossSink, type Part, textPart } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { scanJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";

const encoder = new TextEncoder();

/**
 * Content as the one text that Agora carries: all texts in order, one line each; a data part that stands alone, as JSON.
 * Nothing else has a text.
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
  if (scanJson(encoder.encode(body)).depth > DEFAULT_LIMITS.jsonDepth)
    throw new DecodeProblem("body", "nests too deep", "too_large");
  try {
    return [dataPart(JSON.parse(body) as Json)]; // what `JSON.parse` gives is JSON
  } catch {
    throw new DecodeProblem("body", "must hold JSON text, as the protocol document wants it");
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

/** Nothing but its content. */
export function isBare(part: Part): boolean {
  return part.name === undefined && part.mediaType === undefined && part.metadata === undefined;
}

/** Reports the content that is lost for peers that read only the body. */
export function loseContent(parts: readonly Part[], json: boolean, lose: LossSink): void {
  let texts = 0;
  for (const [index, part] of parts.entries()) {
    const path = `message.parts[${index}]`;
    const reason = part.kind === "text" && texts++ === 0 ? undefined : reasonOf(part, parts.length === 1, json);
    if (reason !== undefined) lose({ protocol: "agora", path, valueKind: part.kind, reason });
    else loseMembers(part, path, lose);
  }
}

function reasonOf({ kind }: Part, alone: boolean, json: boolean): string | undefined {
  if (kind === "text") return "Agora has one body: the text becomes a further line of it";
  if (kind !== "data") return "Agora carries text only";
  if (!alone) return "Agora has one body, and it is text already";
  return json ? undefined : "it arrives as the text of its JSON";
}

function loseMembers(part: Part, path: string, lose: LossSink): void {
  for (const member of ["name", "mediaType", "metadata"] as const) {
    if (part[member] === undefined) continue;
    lose({
      protocol: "agora",
      path: `${path}.${member}`,
      valueKind: typeof part[member],
      reason: "a body has nothing beside it",
    });
  }
}
