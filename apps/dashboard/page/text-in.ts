import type { Json, JsonObject } from "../../../src/index.js";

/** How deep the words of an event may lie. */
const DEPTH = 6;
/** Members under which the forms of an event keep their words. */
const PLACES = ["parts", "content", "message", "status", "artifact", "envelope"] as const;

/** The words in an event, wherever its form keeps them: `text`, or the parts of a message, status or artifact. */
export function textIn(value: Json | undefined, depth = DEPTH): string | undefined {
  if (depth === 0 || typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return joined(value.map((each: Json) => textIn(each, depth - 1)));
  const members = value as JsonObject; // neither null nor an array
  const { text } = members;
  return typeof text === "string" ? text : joined(PLACES.map((name) => textIn(members[name], depth - 1)));
}

function joined(pieces: readonly (string | undefined)[]): string | undefined {
  const said = pieces.filter((piece) => piece !== undefined && piece !== "");
  return said.length === 0 ? undefined : said.join(" ");
}
