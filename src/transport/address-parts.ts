import { AgentError } from "../envelope/index.js";
import { DecodeProblem } from "./fields.js";

/** Decodes one path segment; an invalid escape is the caller's error. */
export function decodeSegment(segment: string | undefined): string {
  try {
    return decodeURIComponent(segment ?? "");
  } catch (thrown) {
    throw new AgentError("invalid_message", "the path contains an invalid percent escape", { field: "path", cause: thrown });
  }
}

/** Encodes text as one path segment. Dot segments and lone surrogates are refused before anything is sent. */
export function encodeSegment(text: string, field: string): string {
  if (text === "." || text === ".." || /\p{Surrogate}/u.test(text))
    throw new AgentError("invalid_message", `${field} cannot be used in a URL path`, { field, sent: "no" });
  return encodeURIComponent(text);
}

/** Scans from the end: a regular expression would restart at every slash, and peers supply addresses too. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length;
  while (end > 0 && address[end - 1] === "/") end--;
  return address.slice(0, end);
}

/** Query parameters by name. Repeated names are refused because their meaning is ambiguous. */
export function readQuery(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query === "" ? [] : query.split("&")) {
    const equals = pair.indexOf("=");
    const name = unescapeQuery(equals < 0 ? pair : pair.slice(0, equals));
    if (parameters.has(name)) throw new DecodeProblem(name, "occurs twice in the query");
    parameters.set(name, unescapeQuery(equals < 0 ? "" : pair.slice(equals + 1)));
  }
  return parameters;
}

function unescapeQuery(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new DecodeProblem("query", "contains an invalid percent escape");
  }
}

/** True for `https:` and `wss:` addresses. */
export function isTlsAddress(url: string): boolean {
  return /^(https|wss):/i.test(url);
}
