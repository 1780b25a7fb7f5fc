import { type AgentEvent, type Cursor, isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { withoutKey } from "../codec/envelope-extension.js";
import { RESUME_URI } from "../koine-extensions.js";

/** The stream items with metadata. A message ends its stream, so it needs no cursor. */
const PLACES = ["task", "statusUpdate", "artifactUpdate"] as const;

/**
 * Server-sent events have an id that serves as the cursor; gRPC has none. For callers that requested the extension, it is in the
 * metadata of the event.
 */
export function withCursor(item: JsonObject, { cursor }: AgentEvent): JsonObject {
  const place = PLACES.find((name) => item[name] !== undefined);
  const inner = place === undefined ? undefined : item[place];
  if (cursor === undefined || place === undefined || !isObject(inner)) return item;
  const metadata = isObject(inner["metadata"]) ? inner["metadata"] : undefined;
  return { [place]: { ...inner, metadata: { ...metadata, [RESUME_URI]: { cursor } } } };
}

/** The cursor in an item, and the item without it. */
export function takeCursor(item: JsonObject): { readonly item: JsonObject; readonly cursor: Maybe<Cursor> } {
  const place = PLACES.find((name) => item[name] !== undefined);
  const inner = place === undefined ? undefined : item[place];
  const metadata = isObject(inner) ? inner["metadata"] : undefined;
  const held = isObject(metadata) ? metadata[RESUME_URI] : undefined;
  if (place === undefined || !isObject(inner) || !isObject(metadata) || !isObject(held)) return { item, cursor: undefined };
  const cursor = typeof held["cursor"] === "string" && held["cursor"] !== "" ? held["cursor"] : undefined;
  // The cursor of the peer is opaque; sending it back resumes the stream.
  return { item: { [place]: { ...inner, metadata: withoutKey(metadata, RESUME_URI) } }, cursor: cursor as Maybe<Cursor> };
}
