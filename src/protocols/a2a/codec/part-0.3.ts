import { encodeBase64, type JsonObject, type LossSink, type Maybe, type Metadata, type Part } from "../../../envelope/index.js";
import { DecodeProblem, readObject, readString } from "../../../transport/fields.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { plain, readMetadata, shown, someText } from "../wire.js";
import { unwrapData, wrapData } from "./data-compat.js";

/** A part of the 0.3 JSON schema, distinguished by `kind`. Versions before 0.2.2 named it `type`. */
export function readKindPart(value: unknown, path: string): Part {
  const object = readObject(value, path);
  const kind = object.kind ?? object.type;
  const metadata = readMetadata(object.metadata, `${path}.metadata`);
  if (kind === "text") {
    const text = readString(object.text, `${path}.text`);
    return { kind: "text", text, mediaType: undefined, name: undefined, metadata };
  }
  if (kind === "data") {
    const open = unwrapData(readObject(object.data, `${path}.data`), metadata);
    return { kind: "data", data: open.data, mediaType: undefined, name: undefined, metadata: open.metadata };
  }
  if (kind === "file") return readFile(readObject(object.file, `${path}.file`), `${path}.file`, metadata);
  throw new DecodeProblem(`${path}.kind`, `must be text, file or data, not ${shown(kind)}`);
}

function readFile(file: JsonObject, path: string, metadata: Maybe<Metadata>): Part {
  const { bytes, uri } = file;
  if ((bytes == null) === (uri == null)) {
    const found = bytes == null ? "has none" : "has both";
    throw new DecodeProblem(path, `must have exactly one of bytes and uri, but ${found}`);
  }
  const mediaType = plain(file.mimeType ?? file.mime_type, `${path}.mimeType`);
  const name = plain(file.name, `${path}.name`);
  if (bytes != null) return { kind: "raw", bytes: readBase64(bytes, `${path}.bytes`), mediaType, name, metadata };
  return { kind: "url", url: readString(uri, `${path}.uri`), mediaType, name, metadata };
}

export function writeKindPart(part: Part, path: string, reportLoss: LossSink): JsonObject {
  const metadata = part.metadata;
  switch (part.kind) {
    case "text":
      reportLabelLosses(part, path, reportLoss);
      return { kind: "text", text: part.text, metadata };
    case "data": {
      reportLabelLosses(part, path, reportLoss);
      const wrapped = wrapData(part.data, metadata);
      return { kind: "data", data: wrapped.data, metadata: wrapped.metadata };
    }
    case "raw":
      return {
        kind: "file",
        file: { bytes: encodeBase64(part.bytes), mimeType: someText(part.mediaType), name: someText(part.name) },
        metadata,
      };
    case "url":
      return { kind: "file", file: { uri: part.url, mimeType: someText(part.mediaType), name: someText(part.name) }, metadata };
    default:
      return part satisfies never;
  }
}

/** Text and data parts of 0.3 have neither media type nor file name. */
export function reportLabelLosses(part: Part, path: string, reportLoss: LossSink): void {
  if (part.mediaType !== undefined) reportLabelLoss(`${path}.mediaType`, reportLoss);
  if (part.name !== undefined) reportLabelLoss(`${path}.name`, reportLoss);
}

function reportLabelLoss(path: string, reportLoss: LossSink): void {
  reportLoss({ protocol: "a2a", path, valueKind: "string", reason: "0.3 has this on files only" });
}
