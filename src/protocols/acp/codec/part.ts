import { AgentError, encodeBase64, type Json, type JsonObject, type Maybe, type Part } from "../../../envelope/index.js";
import { DecodeProblem, kindOf, readObject } from "../../../transport/fields.js";
import { readBase64 } from "../../../transport/read-base64.js";
import type { WirePart } from "../wire.js";
import type { CodecFacts } from "./facts.js";
import { KOINE_KEY, koineMembersOf, koinePath, reportLossAt } from "./koine-members.js";
import { readPartMetadata, splitMetadata } from "./part-metadata.js";

const TEXT = "text/plain";
const JSON_TYPE = "application/json";
const BYTES = "application/octet-stream";
const members: ReadonlySet<string> = new Set([
  "name",
  "content_type",
  "content",
  "content_encoding",
  "content_url",
  "metadata",
  KOINE_KEY,
]);

/** A part of an artifact has the artifact's name on the wire; a part of a message has its own. */
export type Naming = "part" | "artifact";

type ReadFacts = Pick<CodecFacts, "nested" | "reportLoss">;

export function readPart(value: unknown, path: string, naming: Naming, facts: ReadFacts): Part {
  const wire = readObject(value, path);
  const own = koineMembersOf(wire, path);
  const type = textAt(wire.content_type, path, "content_type") ?? TEXT;
  const content = textAt(wire.content, path, "content");
  const url = textAt(wire.content_url, path, "content_url");
  if (url !== undefined && !URL.canParse(url)) throw new DecodeProblem(`${path}.content_url`, "must be an absolute URL");
  const encoding = wire.content_encoding ?? "plain";
  if (encoding !== "plain" && encoding !== "base64")
    throw new DecodeProblem(`${path}.content_encoding`, "must be plain or base64");
  if (content !== undefined && url !== undefined) throw new DecodeProblem(path, "must not have both content and content_url");
  const name = naming === "part" ? textAt(wire.name, path, "name") : koineText(own, "name", path);
  const metadata = readPartMetadata(wire, members, path, own?.metadata);
  const mediaType = koineText(own, "mediaType", path);
  if (url !== undefined) return { kind: "url", url, mediaType: mediaType ?? unless(BYTES, type), name, metadata };
  if (encoding === "base64") {
    const bytes = readBase64(content ?? "", `${path}.content`);
    return { kind: "raw", bytes, mediaType: mediaType ?? unless(BYTES, type), name, metadata };
  }
  const isData = own?.kind === "data" || (own?.kind !== "text" && isJson(type));
  const data = isData && content !== undefined ? dataIn(content, own?.kind === "data", path, facts) : undefined;
  if (data !== undefined) return { kind: "data", data, mediaType: mediaType ?? unless(JSON_TYPE, type), name, metadata };
  return { kind: "text", text: content ?? "", mediaType: mediaType ?? unless(TEXT, type), name, metadata };
}

/** An optional string. The path is built only for errors. */
function textAt(value: Maybe<Json>, path: string, member: string): Maybe<string> {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return undefined;
  throw new DecodeProblem(`${path}.${member}`, `must be a string, not ${kindOf(value)}`);
}

/** The value of a JSON part. Undefined if the text is not valid JSON. */
function dataIn(content: string, isSure: boolean, path: string, { nested, reportLoss }: ReadFacts): Maybe<Json> {
  try {
    const changed = (): void =>
      reportLossAt(reportLoss, `${path}.content`, "number", "a number of 16 digits or more may have changed");
    return nested.read(content, changed) as Json; // fresh out of JSON.parse
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    if (code === "too_large") throw new DecodeProblem(`${path}.content`, `is too large: ${message}`, code);
    if (isSure) throw new DecodeProblem(`${path}.content`, "is not JSON");
    return undefined;
  }
}

function koineText(own: Maybe<JsonObject>, member: string, path: string): Maybe<string> {
  if (own === undefined) return undefined;
  const value = own[member];
  if (value === undefined || typeof value === "string") return value;
  throw new DecodeProblem(koinePath(path, member), `must be a string, not ${kindOf(value)}`);
}

function unless(usual: string, type: string): Maybe<string> {
  return type === usual ? undefined : type;
}

/** `application/json` and types with the suffix of RFC 6839, with or without parameters. */
function isJson(type: string): boolean {
  if (type === TEXT) return false;
  if (type === JSON_TYPE) return true;
  const [media = ""] = type.toLowerCase().split(";", 1);
  return media.trim() === JSON_TYPE || media.trim().endsWith("+json");
}

/** `extension`: members of the whole message or artifact, for its first part. */
export function writePart(part: Part, naming: Naming, artifactName: Maybe<string>, extension?: Maybe<JsonObject>): WirePart {
  const name = (naming === "artifact" ? artifactName : part.name) ?? null;
  if (
    extension === undefined &&
    part.metadata === undefined &&
    part.mediaType === undefined &&
    part.kind === "text" &&
    naming === "part"
  )
    return { name, content_type: TEXT, content: part.text, content_encoding: "plain", content_url: null, metadata: null };
  const { metadata, rest, extras } = splitMetadata(part.metadata, members);
  const type = part.mediaType === undefined || part.mediaType === "" ? usualType(part) : part.mediaType;
  const own = koineMembers(part, type, { name: naming === "artifact" ? part.name : undefined, metadata: rest }, extension);
  const wire = payloadOf(part, name, type, metadata);
  if (own === undefined && extras === undefined) return wire;
  return { ...extras, ...wire, ...(own === undefined ? undefined : { [KOINE_KEY]: own }) };
}

function payloadOf(part: Part, name: string | null, type: string, metadata: WirePart["metadata"]): WirePart {
  switch (part.kind) {
    case "text":
      return {
        name,
        content_type: type,
        // A citation or step without content keeps its position in the message; it is not an empty text.
        content: part.text === "" && metadata !== null ? null : part.text,
        content_encoding: "plain",
        content_url: null,
        metadata,
      };
    case "data":
      return {
        name,
        content_type: type,
        content: JSON.stringify(part.data),
        content_encoding: "plain",
        content_url: null,
        metadata,
      };
    case "raw":
      return {
        name,
        content_type: type,
        content: encodeBase64(part.bytes),
        content_encoding: "base64",
        content_url: null,
        metadata,
      };
    case "url":
      return { name, content_type: type, content: null, content_encoding: "plain", content_url: part.url, metadata };
    default:
      return part satisfies never;
  }
}

function usualType({ kind }: Part): string {
  if (kind === "text") return TEXT;
  return kind === "data" ? JSON_TYPE : BYTES;
}

/** Only members that would be decoded differently. */
function koineMembers(
  part: Part,
  type: string,
  aside: { readonly name: Maybe<string>; readonly metadata: Maybe<JsonObject> },
  extension: Maybe<JsonObject>,
): Maybe<JsonObject> {
  const json = isJson(type);
  const misread = (part.kind === "text" && json) || (part.kind === "data" && !json);
  // Decoded as the type; absent if it is the default.
  const mediaType =
    part.mediaType !== undefined && (part.mediaType === "" || type === usualType(part)) ? part.mediaType : undefined;
  if (!misread && mediaType === undefined && aside.name === undefined && aside.metadata === undefined) return extension;
  const own: { [member: string]: Json } = {};
  if (misread) own["kind"] = part.kind;
  if (mediaType !== undefined) own["mediaType"] = mediaType;
  if (aside.name !== undefined) own["name"] = aside.name;
  if (aside.metadata !== undefined) own["metadata"] = aside.metadata;
  return extension === undefined ? own : { ...own, ...extension };
}
