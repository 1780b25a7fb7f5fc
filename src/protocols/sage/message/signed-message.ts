import { type Envelope, encodeBase64, type JsonObject, type Maybe, type Part } from "../../../envelope/index.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { optional, readArray, readInteger, readObject, readString, readText } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { SageError } from "../errors.js";

/** What the author of a message signs. Session and task ids are not in it: a gateway that owns tasks replaces them. */
export interface SignedMessage {
  readonly id: string;
  readonly did: string;
  /** The DID URL of the key. */
  readonly kid: string;
  /** The DID that the message is for. */
  readonly recipient: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly expires: number;
  readonly nonce: string;
  readonly role: Envelope["role"];
  readonly intent: string;
  readonly parts: readonly Part[];
  /** Of an answer: the digest of what the author of the request signed. */
  readonly requestHash: Maybe<string>;
  /** Of an answer through a gateway: the id that its author has for the task. */
  readonly task?: Maybe<string>;
}

/** In front of the signed object, so that a signature over it is good for nothing else. */
const PREFIX = "koine-sage-message|1\n";
const encoder = new TextEncoder();

/** The signed bytes: the prefix and canonical JSON (RFC 8785). They travel as they are, and are never made again. */
export function writeSigned(message: SignedMessage): Uint8Array {
  const { id, did, kid, recipient, created, expires, nonce, role, intent, parts, requestHash, task } = message;
  const object = {
    v: "1",
    id,
    did,
    kid,
    recipient,
    created,
    expires,
    nonce,
    role,
    intent,
    parts: parts.map(writePart),
    ...(requestHash === undefined ? undefined : { request_hash: requestHash }),
    ...(task === undefined ? undefined : { task }),
  };
  return encoder.encode(PREFIX + canonicalJson(object));
}

/** Throws SageError `message.malformed`. */
export function readSigned(bytes: Uint8Array): SignedMessage {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.startsWith(PREFIX)) throw new Error("it does not begin as one");
    const value = readJson(encoder.encode(text.slice(PREFIX.length)), DEFAULT_LIMITS);
    // What is not canonical could be read in two ways.
    if (canonicalJson(value) !== text.slice(PREFIX.length)) throw new Error("it is not canonical JSON");
    return read(readObject(value, "signed"));
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : "it cannot be read";
    throw new SageError("message.malformed", `the signed message is not valid: ${why}`, { cause: thrown });
  }
}

function read(object: JsonObject): SignedMessage {
  if (object["v"] !== "1") throw new Error("its version is not known");
  const role = readString(object["role"], "role");
  if (role !== "user" && role !== "agent") throw new Error("its role is neither user nor agent");
  const text = (name: string): string => readText(object[name], name);
  return {
    id: text("id"),
    did: text("did"),
    kid: text("kid"),
    recipient: text("recipient"),
    created: readInteger(object["created"], "created"),
    expires: readInteger(object["expires"], "expires"),
    nonce: text("nonce"),
    role,
    intent: readString(object["intent"], "intent"),
    parts: readArray(object["parts"], "parts", readPart),
    requestHash: optional(object["request_hash"], "request_hash", readText),
    task: optional(object["task"], "task", readText),
  };
}

export function writePart(part: Part): JsonObject {
  const { kind, mediaType, name, metadata } = part;
  return {
    kind,
    ...bodyOf(part),
    ...(mediaType === undefined ? undefined : { media_type: mediaType }),
    ...(name === undefined ? undefined : { name }),
    ...(metadata === undefined ? undefined : { metadata: withoutUndefined(metadata) }),
  };
}

function bodyOf(part: Part): JsonObject {
  switch (part.kind) {
    case "text":
      return { text: part.text };
    case "data":
      return { data: withoutUndefined(part.data) };
    case "raw":
      return { bytes: encodeBase64(part.bytes) };
    case "url":
      return { url: part.url };
    default:
      return part satisfies never;
  }
}

/** JSON has no undefined, which optional members of an object may be. */
export function withoutUndefined<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutUndefined) as T;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(members.map(([name, each]) => [name, withoutUndefined(each as unknown)])) as T;
}

export function readPart(value: unknown, path: string): Part {
  const object = readObject(value, path);
  const fields = {
    mediaType: optional(object["media_type"], `${path}.media_type`, readString),
    name: optional(object["name"], `${path}.name`, readString),
    metadata: optional(object["metadata"], `${path}.metadata`, readObject),
  };
  const { kind, text, data, bytes, url } = object;
  switch (kind) {
    case "text":
      return { kind, text: readString(text, `${path}.text`), ...fields };
    case "data":
      return { kind, data: data ?? null, ...fields };
    case "raw":
      return { kind, bytes: readBase64(bytes, `${path}.bytes`), ...fields };
    case "url":
      return { kind, url: readString(url, `${path}.url`), ...fields };
    default:
      throw new Error(`${path} is of no known kind`);
  }
}

/** Whether parts say the same as the signed ones. What only describes a part may get lost on the way: the signed one has it. */
export function sameContent(signed: readonly Part[], received: readonly Part[]): boolean {
  return signed.length === received.length && signed.every((part, index) => saysSame(part, received[index]));
}

function saysSame(signed: Part, received: Maybe<Part>): boolean {
  return received?.kind === signed.kind && canonicalJson(bodyOf(signed)) === canonicalJson(bodyOf(received));
}
