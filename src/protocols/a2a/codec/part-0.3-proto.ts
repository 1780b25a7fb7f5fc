import {
  encodeBase64,
  isObject,
  type JsonObject,
  type LossSink,
  type Maybe,
  type Metadata,
  type Part,
} from "../../../envelope/index.js";
import { DecodeProblem, readObject, readString } from "../../../transport/fields.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { plain, readMetadata, someText } from "../wire.js";
import { unwrapData } from "./data-compat.js";
import { loseLabels } from "./part-0.3.js";

/** A part in ProtoJSON of the 0.3 protobuf: `{text}`, `{file: {…}}` or `{data: {data: {…}}}`. */
export function readProtoPart(value: unknown, path: string): Part {
  const object = readObject(value, path);
  const { text, file, data } = object;
  const present = ["text", "file", "data"].filter((name) => object[name] != null);
  if (present.length !== 1) {
    const found = present.length === 0 ? "has none" : `has ${present.join(" and ")}`;
    throw new DecodeProblem(path, `must have exactly one of text, file, data, but ${found}`);
  }
  const metadata = readMetadata(object.metadata, `${path}.metadata`);
  if (text != null)
    return { kind: "text", text: readString(text, `${path}.text`), mediaType: undefined, name: undefined, metadata };
  if (file != null) return readFile(readObject(file, `${path}.file`), `${path}.file`, metadata);
  const inner = readObject(data, `${path}.data`).data ?? {};
  const open = unwrapData(readObject(inner, `${path}.data.data`), metadata);
  return { kind: "data", data: open.data, mediaType: undefined, name: undefined, metadata: open.metadata };
}

function readFile(file: JsonObject, path: string, metadata: Maybe<Metadata>): Part {
  const uri = file.fileWithUri ?? file.file_with_uri;
  const bytes = file.fileWithBytes ?? file.file_with_bytes;
  if ((bytes == null) === (uri == null)) {
    const found = bytes == null ? "has none" : "has both";
    throw new DecodeProblem(path, `must have exactly one of fileWithUri and fileWithBytes, but ${found}`);
  }
  const mediaType = plain(file.mimeType ?? file.mime_type, `${path}.mimeType`);
  const name = plain(file.name, `${path}.name`);
  if (bytes != null) return { kind: "raw", bytes: readBase64(bytes, `${path}.fileWithBytes`), mediaType, name, metadata };
  return { kind: "url", url: readString(uri, `${path}.fileWithUri`), mediaType, name, metadata };
}

/**
 * The first 0.3 SDKs have no metadata on a part here, and their parsers refuse a whole message for one member they do not
 * know, so it is not written; with it goes the flag that data was wrapped.
 */
export function writeProtoPart(part: Part, path: string, lose: LossSink): JsonObject {
  if (part.metadata !== undefined) tell(`${path}.metadata`, "object", "0.3 REST has no metadata on parts", lose);
  switch (part.kind) {
    case "text":
      loseLabels(part, path, lose);
      return { text: part.text };
    case "data":
      loseLabels(part, path, lose);
      if (isObject(part.data)) return { data: { data: part.data } };
      tell(`${path}.data`, "data", "0.3 data is an object; sent as its member value", lose);
      return { data: { data: { value: part.data } } };
    case "raw":
      return { file: { fileWithBytes: encodeBase64(part.bytes), mimeType: someText(part.mediaType), name: someText(part.name) } };
    case "url":
      return { file: { fileWithUri: part.url, mimeType: someText(part.mediaType), name: someText(part.name) } };
    default:
      return part satisfies never;
  }
}

function tell(path: string, valueKind: string, reason: string, lose: LossSink): void {
  lose({ protocol: "a2a", path, valueKind, reason });
}
