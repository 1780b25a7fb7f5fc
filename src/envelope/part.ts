import type { Json, JsonObject, Maybe, Metadata } from "./json.js";

interface PartFields {
  readonly mediaType?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly metadata?: Maybe<Metadata>;
}

/** One part of the content. Encrypted content is a `raw` part with its own media type. */
export type Part =
  | (PartFields & { readonly kind: "text"; readonly text: string })
  | (PartFields & { readonly kind: "data"; readonly data: Json })
  | (PartFields & { readonly kind: "raw"; readonly bytes: Uint8Array })
  | (PartFields & { readonly kind: "url"; readonly url: string });

/** A text part. */
export function textPart(text: string): Part {
  return { kind: "text", text, mediaType: undefined, name: undefined, metadata: undefined };
}

/** A part with JSON data. */
export function dataPart(data: Json): Part {
  return { kind: "data", data, mediaType: undefined, name: undefined, metadata: undefined };
}

/** All text of a message in order, one line per text part. */
export function textOf(parts: readonly Part[]): string {
  if (parts.length === 1) return parts[0]?.kind === "text" ? parts[0].text : "";
  const texts: string[] = [];
  for (const part of parts) if (part.kind === "text") texts.push(part.text);
  return texts.join("\n");
}

/** Message content: text, parts, or a JSON object that becomes one data part. */
export type Content = string | readonly Part[] | JsonObject;

/** Content as parts. An array of anything else is JSON and becomes a data part. */
export function partsOf(content: Content): readonly Part[] {
  if (typeof content === "string") return [textPart(content)];
  if (isParts(content)) return content;
  return [dataPart(content as Json)]; // by its type, anything else is JSON
}

function isParts(content: Exclude<Content, string>): content is readonly Part[] {
  return Array.isArray(content) && content.every((part) => typeof part?.kind === "string");
}
