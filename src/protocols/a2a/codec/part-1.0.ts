import { encodeBase64, type Json, type JsonObject, type Metadata, type Part } from "../../../envelope/index.js";
import { DecodeProblem, readJsonValue, readObject, readString } from "../../../transport/fields.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { plain, readMetadata, someText } from "../wire.js";

/**
 * A2A 1.0 §4.1.6: exactly one of `text`, `raw`, `url`, `data`. Determined by the presence of the key, because null is valid data
 * and an empty string is valid text; null in the other three means absent in ProtoJSON.
 */
export function readPart(value: unknown, path: string): Part {
  const object = readObject(value, path);
  const { text, raw, url, data } = object;
  const members = (text == null ? 0 : 1) + (raw == null ? 0 : 1) + (url == null ? 0 : 1) + (data === undefined ? 0 : 1);
  if (members !== 1) throw notOne(object, path);
  const mediaType = plain(object.mediaType ?? object.media_type, `${path}.mediaType`);
  const name = plain(object.filename, `${path}.filename`);
  const metadata = readMetadata(object.metadata, `${path}.metadata`);
  if (text != null) return { kind: "text", text: readString(text, `${path}.text`), mediaType, name, metadata };
  if (data !== undefined) return { kind: "data", data: readJsonValue(data), mediaType, name, metadata };
  if (raw != null) return { kind: "raw", bytes: readBase64(raw, `${path}.raw`), mediaType, name, metadata };
  return { kind: "url", url: readString(url, `${path}.url`), mediaType, name, metadata };
}

export function writePart(part: Part): JsonObject {
  const mediaType = someText(part.mediaType);
  const filename = someText(part.name);
  const metadata: Metadata | undefined = part.metadata;
  switch (part.kind) {
    case "text":
      return { text: part.text, mediaType, filename, metadata };
    case "data":
      return { data: part.data, mediaType, filename, metadata };
    case "raw":
      return { raw: encodeBase64(part.bytes), mediaType, filename, metadata };
    case "url":
      return { url: part.url, mediaType, filename, metadata };
    default:
      return part satisfies never;
  }
}

function notOne(object: JsonObject, path: string): DecodeProblem {
  const present = ["text", "raw", "url", "data"].filter((name) => isPresent(name, object[name]));
  const found = present.length === 0 ? "has none" : `has ${present.join(" and ")}`;
  return new DecodeProblem(path, `must have exactly one of text, raw, url, data, but ${found}`);
}

function isPresent(name: string, value: Json | undefined): boolean {
  return name === "data" ? value !== undefined : value !== undefined && value !== null;
}
