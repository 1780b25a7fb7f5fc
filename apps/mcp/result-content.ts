import type { ContentBlock } from "@modelcontextprotocol/server";
import type { Json, Maybe, Part } from "../../src/index.js";
import { LIMITS } from "./limits.js";
import { plainLine } from "./plain-text.js";

/** The content of a tool result, and what was omitted. */
export interface ResultContent {
  readonly blocks: readonly ContentBlock[];
  readonly data: readonly Json[];
  readonly omitted: readonly string[];
}

const BYTES = "application/octet-stream";

/** Converts non-text parts: images and audio as such, other bytes as resources, URLs as links. */
export function contentOf(parts: readonly Part[], budget: number): ResultContent {
  const blocks: ContentBlock[] = [];
  const data: Json[] = [];
  const omitted: string[] = [];
  let left = budget;
  for (const [index, part] of parts.entries()) {
    if (part.kind === "text") continue;
    const block = part.kind === "data" ? undefined : blockOf(part, index);
    if (part.kind !== "data" && block === undefined) {
      omitted.push(`${labelOf(part)}: its URL is neither http nor https`);
      continue;
    }
    // Data is written twice: as text for models, and as JSON for programs.
    const size = block === undefined ? 2 * encodedBytes(part.kind === "data" ? part.data : null) : encodedBytes(block);
    if (size > left) {
      omitted.push(`${labelOf(part)}: ${size} bytes exceed the size limit of a result`);
      continue;
    }
    left -= size;
    if (block !== undefined) blocks.push(block);
    else if (part.kind === "data") data.push(part.data);
  }
  return { blocks, data, omitted };
}

/** Size on the wire, including escapes, base64 and UTF-8. */
export function encodedBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "null");
}

function blockOf(part: Extract<Part, { readonly kind: "raw" | "url" }>, index: number): Maybe<ContentBlock> {
  const name = plainLine(part.name ?? `part-${index + 1}`, LIMITS.lineChars);
  const mimeType = plainLine(part.mediaType ?? BYTES, LIMITS.lineChars);
  if (part.kind === "url") {
    // An assistant may open links: an agent must not point at local files.
    if (!/^https?:\/\//i.test(part.url) || !URL.canParse(part.url)) return undefined;
    return { type: "resource_link", uri: part.url, name, ...(part.mediaType === undefined ? {} : { mimeType }) };
  }
  const data = Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.byteLength).toString("base64");
  if (mimeType.startsWith("image/")) return { type: "image", data, mimeType };
  if (mimeType.startsWith("audio/")) return { type: "audio", data, mimeType };
  return { type: "resource", resource: { uri: `koine:part/${index + 1}/${encodeURIComponent(name)}`, mimeType, blob: data } };
}

function labelOf({ kind, name, mediaType }: Part): string {
  return plainLine(name ?? mediaType ?? kind, LIMITS.lineChars);
}
