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
import { ambiguous, type LegacyFiles, readFileBytes, writeFileBytes } from "./legacy-files.js";
import { reportLabelLosses } from "./part-0.3.js";

/** A part in ProtoJSON of the 0.3 protobuf: `{text}`, `{file: {…}}` or `{data: {data: {…}}}`. */
export function readProtoPart(value: unknown, path: string, reportLoss: LossSink, files: LegacyFiles): Part {
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
  if (file != null) {
    const part = readFile(readObject(file, `${path}.file`), `${path}.file`, metadata);
    if (part.kind !== "raw") return part;
    return { ...part, bytes: readFileBytes(part.bytes, part.mediaType, files, ambiguous(path, reportLoss)) };
  }
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
 * The first 0.3 SDKs reject a message with unknown members, and know no part metadata here, so it is not written. The flag for
 * wrapped data is lost with it.
 */
export function writeProtoPart(part: Part, path: string, reportLoss: LossSink, files: LegacyFiles): JsonObject {
  if (part.metadata !== undefined) reportPartLoss(`${path}.metadata`, "object", "0.3 REST has no metadata on parts", reportLoss);
  switch (part.kind) {
    case "text":
      reportLabelLosses(part, path, reportLoss);
      return { text: part.text };
    case "data":
      reportLabelLosses(part, path, reportLoss);
      if (isObject(part.data)) return { data: { data: part.data } };
      reportPartLoss(`${path}.data`, "data", "0.3 data is an object; sent as its member value", reportLoss);
      return { data: { data: { value: part.data } } };
    case "raw": {
      const fileWithBytes = encodeBase64(writeFileBytes(part.bytes, files));
      return { file: { fileWithBytes, mimeType: someText(part.mediaType), name: someText(part.name) } };
    }
    case "url":
      return { file: { fileWithUri: part.url, mimeType: someText(part.mediaType), name: someText(part.name) } };
    default:
      return part satisfies never;
  }
}

function reportPartLoss(path: string, valueKind: string, reason: string, reportLoss: LossSink): void {
  reportLoss({ protocol: "a2a", path, valueKind, reason });
}
