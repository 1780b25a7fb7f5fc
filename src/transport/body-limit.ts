import type { Maybe } from "../envelope/index.js";
import type { RequestHead } from "./exchange.js";
import type { Limits } from "./limits.js";

/** The limit that a body exceeds first. */
export type BodyLimit = "bodyBytes" | "jsonBytes";

/** The limit of a request's body, by its media type. */
export function bodyLimitOf({ headers }: RequestHead, { bodyBytes, jsonBytes }: Limits): BodyLimit {
  return jsonBytes < bodyBytes && isJson(headers["content-type"]) ? "jsonBytes" : "bodyBytes";
}

const JSON_TYPE = "application/json";

/** A body without a media type is read as JSON. */
function isJson(contentType: Maybe<string>): boolean {
  if (contentType === JSON_TYPE || contentType === undefined) return true;
  const media = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return media === "" || media === JSON_TYPE || media.endsWith("+json");
}
