import type { Json, JsonObject } from "../../../src/index.js";

/** Recursion limit. */
const DEPTH = 6;
/** Members of events that may hold text. */
const MEMBERS = ["parts", "content", "message", "status", "artifact", "envelope"] as const;

/** The text of an event: its `text` member, or the parts of its message, status or artifact. */
export function textIn(value: Json | undefined, depth = DEPTH): string | undefined {
  if (depth === 0 || typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return joined(value.map((each: Json) => textIn(each, depth - 1)));
  const members = value as JsonObject; // neither null nor an array
  const { text } = members;
  return typeof text === "string" ? text : joined(MEMBERS.map((name) => textIn(members[name], depth - 1)));
}

function joined(pieces: readonly (string | undefined)[]): string | undefined {
  const texts = pieces.filter((piece) => piece !== undefined && piece !== "");
  return texts.length === 0 ? undefined : texts.join(" ");
}
