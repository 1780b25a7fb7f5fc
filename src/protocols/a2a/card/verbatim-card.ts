import { type Card, isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";

/** The document of a card that is served as it came. A card that a host writes itself has none. */
export function verbatimBytes({ original }: Card): Maybe<Uint8Array> {
  return original?.protocol === "a2a" ? original.bytes : undefined;
}

/** The same as JSON, for documents that are put together from members. */
export function verbatimDocument(card: Card): Maybe<JsonObject> {
  const bytes = verbatimBytes(card);
  const document = bytes && readJson(bytes, DEFAULT_LIMITS.jsonDepth);
  return isObject(document) ? document : undefined;
}
