import { decodeBase64, encodeBase64 } from "./base64.js";
import { AgentError } from "./error.js";
import { isObject, type Json, type JsonObject, type Maybe, type Metadata } from "./json.js";
import { dataPart, type Part, textPart } from "./part.js";

/**
 * The only member of `content` for a list of parts. UTE allows only plain objects there, so a list needs a marker that no author's
 * object has by chance; an object that does have it is written as a list of one.
 */
export const PARTS_MEMBER = "urn:koine:parts:1";
/** Maximum number of parts in one message. */
export const MAX_LISTED_PARTS = 256;

const PART_MEMBERS: ReadonlySet<string> = new Set(["text", "data", "raw", "url", "media_type", "name", "metadata"]);

/**
 * `{"text": …}` is a text part and any other object a data part; `{"urn:koine:parts:1": […]}` is a list. A bare string is accepted as
 * text, although UTE has none; it is written back as `{"text": …}`.
 */
export function readContent(content: unknown): readonly Part[] {
  if (typeof content === "string") return [textPart(content)];
  if (!isObject(content)) throw invalid("content", "must be an object");
  if (isListForm(content)) return readList(content[PARTS_MEMBER], `content["${PARTS_MEMBER}"]`);
  const text = soleText(content);
  return [text === undefined ? dataPart(content) : textPart(text)];
}

/** The shortest form that reads back as these parts. */
export function writeContent(parts: readonly Part[]): JsonObject {
  const [only] = parts;
  if (only !== undefined && parts.length === 1 && isPlain(only)) {
    if (only.kind === "text") return { text: only.text };
    if (only.kind === "data" && isObject(only.data) && !isListForm(only.data) && soleText(only.data) === undefined)
      return only.data;
  }
  return { [PARTS_MEMBER]: parts.map(writePart) };
}

function isPlain(part: Part): boolean {
  return part.mediaType === undefined && part.name === undefined && part.metadata === undefined;
}

function isListForm(content: JsonObject): boolean {
  return Object.hasOwn(content, PARTS_MEMBER) && Object.keys(content).length === 1;
}

/** The text of an object whose only member is a string `text`. */
function soleText(content: JsonObject): Maybe<string> {
  const text = content["text"];
  return typeof text === "string" && Object.hasOwn(content, "text") && Object.keys(content).length === 1 ? text : undefined;
}

function readList(list: unknown, path: string): readonly Part[] {
  if (!Array.isArray(list)) throw invalid(path, "must be an array of parts");
  if (list.length > MAX_LISTED_PARTS)
    throw new AgentError("too_large", `${path} has ${list.length} parts; the limit is ${MAX_LISTED_PARTS}`, { field: path });
  return list.map((part: unknown, index) => readPart(part, `${path}[${index}]`));
}

/** Strict: a member that would be lost is refused; later formats get a later marker. */
function readPart(part: unknown, path: string): Part {
  if (!isObject(part)) throw invalid(path, "must be an object");
  for (const name of Object.keys(part)) if (!PART_MEMBERS.has(name)) throw invalid(path, `has an unknown member "${name}"`);
  const kinds = ["text", "data", "raw", "url"].filter((kind) => Object.hasOwn(part, kind));
  if (kinds.length !== 1) throw invalid(path, "must have exactly one of text, data, raw, url");
  const mediaType = optionalString(part["media_type"], `${path}.media_type`);
  const name = optionalString(part["name"], `${path}.name`);
  const metadata = optionalObject(part["metadata"], `${path}.metadata`);
  switch (kinds[0]) {
    case "text":
      return { kind: "text", text: requiredString(part["text"], `${path}.text`), mediaType, name, metadata };
    case "url":
      return { kind: "url", url: requiredString(part["url"], `${path}.url`), mediaType, name, metadata };
    case "raw":
      return { kind: "raw", bytes: readBytes(part["raw"], `${path}.raw`), mediaType, name, metadata };
    default:
      return { kind: "data", data: part["data"] ?? null, mediaType, name, metadata };
  }
}

function writePart(part: Part): JsonObject {
  const rest = { media_type: part.mediaType, name: part.name, metadata: part.metadata };
  return pruned({ ...payloadOf(part), ...rest });
}

function payloadOf(part: Part): { readonly [kind: string]: Json } {
  switch (part.kind) {
    case "text":
      return { text: part.text };
    case "data":
      return { data: part.data };
    case "raw":
      return { raw: encodeBase64(part.bytes) };
    case "url":
      return { url: part.url };
    default:
      return part satisfies never;
  }
}

/** Drops undefined members, so that the object equals its own JSON. */
function pruned(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function readBytes(value: unknown, path: string): Uint8Array {
  const bytes = decodeBase64(requiredString(value, path));
  if (bytes === undefined) throw invalid(path, "must be base64 with padding");
  return bytes;
}

function requiredString(value: unknown, path: string): string {
  if (typeof value !== "string") throw invalid(path, "must be a string");
  return value;
}

function optionalString(value: unknown, path: string): Maybe<string> {
  return value === undefined ? undefined : requiredString(value, path);
}

function optionalObject(value: unknown, path: string): Maybe<Metadata> {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw invalid(path, "must be an object");
  return value;
}

/** An error about one member of the caller's message. */
export function invalid(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `${field === "" ? "the envelope" : field} ${problem}`, { field });
}
