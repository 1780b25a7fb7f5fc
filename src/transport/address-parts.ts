import { AgentError } from "../envelope/index.js";
import { DecodeProblem } from "./fields.js";

/** One segment of a path as text; a broken escape is the caller's mistake. */
export function decodeSegment(segment: string | undefined): string {
  try {
    return decodeURIComponent(segment ?? "");
  } catch (thrown) {
    throw new AgentError("invalid_message", "the path holds a broken percent escape", { field: "path", cause: thrown });
  }
}

/** Text as one segment of a path. What would lead to another path, or has no form in one, is refused before anything is sent. */
export function encodeSegment(text: string, field: string): string {
  if (text === "." || text === ".." || /\p{Surrogate}/u.test(text))
    throw new AgentError("invalid_message", `${field} cannot stand in an address`, { field, sent: "no" });
  return encodeURIComponent(text);
}

/** Counted from the end: a pattern would begin anew at every slash in the middle, and peers write addresses too. */
export function withoutEndSlashes(address: string): string {
  let end = address.length;
  while (end > 0 && address[end - 1] === "/") end--;
  return address.slice(0, end);
}

/** The parameters of a query by their names. Which of two values was meant nobody can know, so a second one is refused. */
export function readQuery(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query === "" ? [] : query.split("&")) {
    const equals = pair.indexOf("=");
    const name = unescapeQuery(equals < 0 ? pair : pair.slice(0, equals));
    if (parameters.has(name)) throw new DecodeProblem(name, "is given twice in the query");
    parameters.set(name, unescapeQuery(equals < 0 ? "" : pair.slice(equals + 1)));
  }
  return parameters;
}

function unescapeQuery(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new DecodeProblem("query", "holds a broken percent escape");
  }
}
