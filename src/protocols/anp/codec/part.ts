import { encodeBase64, type Json, type Part } from "../../../envelope/index.js";
import { DecodeProblem, optional, readArray, readJsonValue, readObject, readString } from "../../../transport/fields.js";
import { readBase64 } from "../../../transport/read-base64.js";
import type { WirePart } from "../wire.js";

/** What a decoder knows about the two ends of a message. */
export interface DecodeFacts {
  readonly partsPerMessage: number;
  /** Seconds since the epoch, for a message without a time. */
  readonly ts: number;
  /** The ends of a message that does not name them. */
  readonly src: string;
  readonly dst: string;
  /** For a message without an id. */
  newId(): string;
}

export function encodeParts(parts: readonly Part[]): readonly WirePart[] {
  return parts.map(encodePart);
}

function encodePart(part: Part): WirePart {
  const { mediaType, name, metadata } = part;
  switch (part.kind) {
    case "text":
      return { text: part.text, mediaType, name, metadata };
    case "data":
      return { data: part.data, mediaType, name, metadata };
    case "raw":
      return { raw: encodeBase64(part.bytes), mediaType, name, metadata };
    case "url":
      return { url: part.url, mediaType, name, metadata };
    default:
      return part satisfies never;
  }
}

export function decodeParts(
  value: unknown,
  path: string,
  { partsPerMessage }: Pick<DecodeFacts, "partsPerMessage">,
): readonly Part[] {
  if (Array.isArray(value) && value.length > partsPerMessage)
    throw new DecodeProblem(path, `has more than ${partsPerMessage} parts`, "too_large");
  return readArray(value, path, decodePart);
}

const CONTENT = ["text", "data", "raw", "url"] as const;

function decodePart(value: unknown, path: string): Part {
  const part = readObject(value, path);
  const [member, second] = CONTENT.filter((name) => part[name] !== undefined);
  if (member === undefined || second !== undefined)
    throw new DecodeProblem(path, `must have exactly one of ${CONTENT.join(", ")}`);
  const mediaType = optional(part["mediaType"], `${path}.mediaType`, readString);
  const name = optional(part["name"], `${path}.name`, readString);
  const metadata = optional(part["metadata"], `${path}.metadata`, readObject);
  const content: Json | undefined = part[member];
  const at = `${path}.${member}`;
  switch (member) {
    case "text":
      return { kind: "text", text: readString(content, at), mediaType, name, metadata };
    case "data":
      return { kind: "data", data: readJsonValue(content), mediaType, name, metadata };
    case "raw":
      return { kind: "raw", bytes: readBase64(content, at), mediaType, name, metadata };
    case "url":
      return { kind: "url", url: readString(content, at), mediaType, name, metadata };
    default:
      return member satisfies never;
  }
}
