import type { Context, Envelope, Json, JsonObject, LossSink, Metadata, Part } from "../../../src/envelope/index.js";
import {
  DecodeProblem,
  kindOf,
  optional,
  readArray,
  readBoolean,
  readJsonValue,
  readObject,
  readString,
  readStrings,
  readText,
} from "../../../src/transport/fields.js";
import type { WirePart } from "../wire.js";

/** Decodes one member. */
export type Read<T> = (value: unknown, path: string) => T;

/** What a decoder knows about the host. */
export interface DecodeLimits {
  readonly partsPerMessage: number;
}

/** Reports what the wire has no member for. */
export function lose(reportLoss: LossSink, path: string, value: unknown, reason: string): void {
  if (value !== undefined) reportLoss({ protocol: "session-toy", path, valueKind: kindOf(value), reason });
}

/** Parts as text and data; others are left out, and reported. */
export function encodeParts(parts: readonly Part[], path: string, reportLoss: LossSink): readonly WirePart[] {
  return parts.flatMap((part, index) => {
    const at = `${path}[${index}]`;
    if (part.kind !== "text" && part.kind !== "data") {
      lose(reportLoss, at, part, "the session toy carries text and data only");
      return [];
    }
    for (const name of ["name", "mediaType", "metadata"] as const)
      lose(reportLoss, `${at}.${name}`, part[name], "parts of the session toy have content only");
    return [part.kind === "text" ? { text: part.text } : { data: part.data }];
  });
}

export function decodeParts(value: unknown, path: string, { partsPerMessage }: DecodeLimits): readonly Part[] {
  const parts = readArray(value, path, decodePart);
  if (parts.length > partsPerMessage) throw new DecodeProblem(path, `has more than ${partsPerMessage} parts`, "too_large");
  return parts;
}

function decodePart(value: unknown, path: string): Part {
  const part = readObject(value, path);
  if (part["data"] !== undefined) return { kind: "data", data: readJsonValue(part["data"]) };
  return { kind: "text", text: readString(part["text"], `${path}.text`) };
}

const NOT_CARRIED = ["artifactRefs", "minVersion", "maxVersion"] as const;
type Carried = Omit<Context, (typeof NOT_CARRIED)[number]>;
/** The context has the same members on the wire. */
const CONTEXT: Readers<Carried> = {
  traceId: readString,
  parentId: readString,
  idempotencyKey: readString,
  sessionId: readString,
  taskId: readString,
  priority: readNumber,
  ttlMs: readNumber,
  stream: readBoolean,
  tags: readStrings,
};
export const CARRIED = Object.keys(CONTEXT) as readonly (keyof Carried)[]; // the keys of that very table

export function encodeMessage(envelope: Envelope, path: string, reportLoss: LossSink): JsonObject {
  const { id, ts, src, dst, intent, role, content, context, metadata, meta } = envelope;
  for (const name of NOT_CARRIED) lose(reportLoss, `context.${name}`, context[name], "the session toy has no such member");
  for (const name of ["references", "extensions", "proofs", "extra"] as const)
    lose(reportLoss, `${path}.${name}`, envelope[name], "the session toy has no such member");
  lose(reportLoss, `${path}.meta.retryCount`, meta.retryCount, "the session toy counts no retries");
  const parts: Json = encodeParts(content, `${path}.parts`, reportLoss);
  const carried = Object.fromEntries(CARRIED.map((name) => [name, context[name]]));
  return { id, at: ts, from: src, to: dst, intent: intent === "" ? undefined : intent, role, parts, context: carried, metadata };
}

export function decodeMessage(value: unknown, path: string, limits: DecodeLimits): Envelope {
  const wire = readObject(value, path);
  return {
    id: readText(wire["id"], `${path}.id`),
    ts: readNumber(wire["at"], `${path}.at`),
    src: readString(wire["from"], `${path}.from`),
    dst: readString(wire["to"], `${path}.to`),
    intent: optional(wire["intent"], `${path}.intent`, readString) ?? "",
    role: readRole(wire["role"], `${path}.role`),
    content: decodeParts(wire["parts"], `${path}.parts`, limits),
    context: decodeMembers(optional(wire["context"], `${path}.context`, readObject) ?? {}, `${path}.context`, CONTEXT),
    meta: {},
    metadata: optional(wire["metadata"], `${path}.metadata`, readMetadata),
  };
}

export function readMetadata(value: unknown, path: string): Metadata {
  return readObject(value, path);
}

export function readNumber(value: unknown, path: string): number {
  if (typeof value === "number") return value;
  throw new DecodeProblem(path, `must be a number, not ${kindOf(value)}`);
}

function readRole(value: unknown, path: string): Envelope["role"] {
  return readOneOf(["user", "agent"], value, path);
}

export function readOneOf<T extends string>(words: readonly T[], value: unknown, path: string): T {
  const word = words.find((each) => each === value);
  if (word === undefined) throw new DecodeProblem(path, `must be one of ${words.join(", ")}`);
  return word;
}

/** Members that are all optional, with one reader for each. */
export type Readers<T> = { readonly [name in keyof T]-?: Read<NonNullable<T[name]>> };

export function decodeMembers<T>(wire: JsonObject, path: string, readers: Readers<T>): T {
  const members = Object.entries<Read<unknown>>(readers).map(([name, read]) => [
    name,
    optional(wire[name], `${path}.${name}`, read),
  ]);
  return Object.fromEntries(members) as T; // one member for each reader
}
