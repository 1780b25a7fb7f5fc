import type { Json, Maybe, Metadata } from "./json.js";

interface PartFields {
  readonly mediaType?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly metadata?: Maybe<Metadata>;
}

/** One piece of content. Sealed content is a `raw` part too: its media type says so. */
export type Part =
  | (PartFields & { readonly kind: "text"; readonly text: string })
  | (PartFields & { readonly kind: "data"; readonly data: Json })
  | (PartFields & { readonly kind: "raw"; readonly bytes: Uint8Array })
  | (PartFields & { readonly kind: "url"; readonly url: string });

export function textPart(text: string): Part {
  return { kind: "text", text, mediaType: undefined, name: undefined, metadata: undefined };
}

export function dataPart(data: Json): Part {
  return { kind: "data", data, mediaType: undefined, name: undefined, metadata: undefined };
}

/** All text of a message in order, one line per text part; other kinds have no text. */
export function textOf(parts: readonly Part[]): string {
  if (parts.length === 1) return parts[0]?.kind === "text" ? parts[0].text : "";
  const texts: string[] = [];
  for (const part of parts) if (part.kind === "text") texts.push(part.text);
  return texts.join("\n");
}
