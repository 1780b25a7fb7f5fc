import type { Json, JsonObject } from "./json.js";
import { dataPart, type Part, textPart } from "./part.js";

/** What people write as content: text, parts, or a JSON object that becomes one data part. */
export type Content = string | readonly Part[] | JsonObject;

/** Content as parts. An array of anything but parts is JSON, and becomes a data part like any other JSON. */
export function partsOf(content: Content): readonly Part[] {
  if (typeof content === "string") return [textPart(content)];
  if (isParts(content)) return content;
  return [dataPart(content as Json)]; // what is neither text nor parts is JSON by its type
}

function isParts(content: Exclude<Content, string>): content is readonly Part[] {
  return Array.isArray(content) && content.every((part) => typeof part?.kind === "string");
}
