import type { JsonObject } from "./json.js";
import { dataPart, type Part, textPart } from "./part.js";

/** What people write as content: text, parts, or a JSON object that becomes one data part. */
export type Content = string | readonly Part[] | JsonObject;

export function partsOf(content: Content): readonly Part[] {
  if (typeof content === "string") return [textPart(content)];
  // An array is a list of parts: a JSON array as content is wrapped in an object by its author.
  return Array.isArray(content) ? (content as readonly Part[]) : [dataPart(content as JsonObject)];
}
