import type { ContentBlock } from "@modelcontextprotocol/server";
import type { Json, Maybe, Part } from "../../src/index.js";
import { LIMITS } from "./limits.js";
import { plainLine } from "./plain-text.js";

/** An answer in the pieces a result has, and what did not fit. */
export interface Pieces {
  readonly blocks: readonly ContentBlock[];
  readonly data: readonly Json[];
  readonly omitted: readonly string[];
}

const BYTES = "application/octet-stream";

/** Everything of an answer that is not text: pictures and sounds as such, other bytes as resources, addresses as links. */
export function piecesOf(parts: readonly Part[], budget: number): Pieces {
  const blocks: ContentBlock[] = [];
  const data: Json[] = [];
  const omitted: string[] = [];
  let left = budget;
  for (const [index, part] of parts.entries()) {
    if (part.kind === "text") continue;
    const block = part.kind === "data" ? undefined : blockOf(part, index);
    if (part.kind !== "data" && block === undefined) {
      omitted.push(`${labelOf(part)}: its address is neither http nor https`);
      continue;
    }
    // Data is written twice: for models as text, for programs as it is.
    const size = block === undefined ? 2 * encodedBytes(part.kind === "data" ? part.data : null) : encodedBytes(block);
    if (size > left) {
      omitted.push(`${labelOf(part)}: ${size} bytes are too many for one result`);
      continue;
    }
    left -= size;
    if (block !== undefined) blocks.push(block);
    else if (part.kind === "data") data.push(part.data);
  }
  return { blocks, data, omitted };
}

/** As it will stand on the line: escapes, base64 and UTF-8 included. */
export function encodedBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "null");
}

function blockOf(part: Extract<Part, { readonly kind: "raw" | "url" }>, index: number): Maybe<ContentBlock> {
  const name = plainLine(part.name ?? `part-${index + 1}`, LIMITS.lineChars);
  const mimeType = plainLine(part.mediaType ?? BYTES, LIMITS.lineChars);
  if (part.kind === "url") {
    // An assistant may open what it is given; a file of its own machine is not for an agent to point at.
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
