import {
  type Envelope,
  encodeBase64,
  isObject,
  isProtected,
  type JsonObject,
  type LossSink,
  type Maybe,
} from "../../../envelope/index.js";
import { carriedFrom, carriedText } from "../../../transport/carried.js";
import type { HttpHeaders } from "../../../transport/exchange.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { readBase64 } from "../../../transport/read-base64.js";
import { cannotCarry } from "../../keep-protection.js";
import { reportLossAt } from "./koine-members.js";
import { koineMembersFrom, readKoineMembers, type Setting } from "./message.js";

/** The id of the message, by which an answer names what it answers. Nearly every message has it. */
export const ID_HEADER = "koine-message-id";
const ID_CHARACTERS = 128;
const PLAIN_ID = new RegExp(`^[\\x21-\\x7e]{1,${ID_CHARACTERS}}$`);
/** The envelope members other than the message, as base64url of compact JSON with UTE names. Usually absent. */
export const ENVELOPE_HEADER = "koine-envelope";
/** Limit of the header value: servers and proxies often allow 8 KiB for all headers together. */
export const ENVELOPE_HEADER_BYTES = 4_096;
const TOO_LONG = `and its envelope header would be longer than ${ENVELOPE_HEADER_BYTES} bytes`;

const utf8 = new TextEncoder();
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of ASCII
const ASCII = /^[\x00-\x7f]*$/;
/** RFC 4648 §5, without padding. */
const URL_SAFE: { readonly [mark: string]: string } = { "+": "-", "/": "_" };
/** RFC 9110 §5.5: the characters allowed in a header. */
const FIELD_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** The headers of a request for this message. Reports what does not fit; throws if it is a signature, or the id it covers. */
export function writeEnvelopeHeaders(envelope: Envelope, reportLoss: LossSink): Record<string, string> {
  const headers: Record<string, string> = {};
  const key = envelope.context.idempotencyKey;
  // Keys with other characters are carried in the envelope header, which only Koine servers read.
  const hasPlainKey = key !== undefined && FIELD_VALUE.test(key);
  if (hasPlainKey) headers["idempotency-key"] = key;
  const hasPlainId = PLAIN_ID.test(envelope.id);
  if (hasPlainId) headers[ID_HEADER] = envelope.id;
  const rest = withoutWire(hasPlainKey ? { ...envelope, context: { ...envelope.context, idempotencyKey: undefined } } : envelope);
  const carried = carriedFrom(rest);
  const { references, extensions, metadata } = envelope;
  const hasOnlyCarried = references === undefined && extensions === undefined && metadata === undefined;
  if (hasOnlyCarried && hasPlainId) {
    const usual = carried === undefined ? undefined : base64Url(carriedText(carried));
    if (usual !== undefined && usual.length <= ENVELOPE_HEADER_BYTES) headers[ENVELOPE_HEADER] = usual;
    if (usual === undefined || usual.length <= ENVELOPE_HEADER_BYTES) return headers;
  }
  const isSilent = hasOnlyCarried && carried === undefined;
  const header = headerFor(isSilent ? {} : koineMembersFrom(rest, carried), hasPlainId ? undefined : envelope.id, reportLoss);
  if (header === undefined && !hasPlainId && isProtected(envelope)) throw cannotCarry("acp", "the message", TOO_LONG);
  if (header !== undefined) headers[ENVELOPE_HEADER] = header;
  return headers;
}

function headerFor(members: JsonObject, id: Maybe<string>, reportLoss: LossSink): Maybe<string> {
  const whole = encoded({ ...members, id });
  if (whole.length <= ENVELOPE_HEADER_BYTES) return whole;
  if (members["proofs"] !== undefined) throw cannotCarry("acp", "the message", TOO_LONG);
  for (const [name, value] of Object.entries(members))
    if (name !== "id" && value !== undefined)
      reportLossAt(
        reportLoss,
        `message.${name}`,
        typeof value,
        `the envelope's header would be longer than ${ENVELOPE_HEADER_BYTES} bytes`,
      );
  const only = id === undefined ? undefined : encoded({ id });
  if (only === undefined || only.length <= ENVELOPE_HEADER_BYTES) return only;
  reportLossAt(reportLoss, "message.id", "string", `the envelope's header would be longer than ${ENVELOPE_HEADER_BYTES} bytes`);
  return undefined;
}

/** Earlier messages and the session are in the body. */
function withoutWire(envelope: Envelope): Envelope {
  const { extra } = envelope;
  if (extra?.["acp"] === undefined) return envelope;
  const rest = Object.entries(extra).filter(([name]) => name !== "acp");
  return { ...envelope, extra: rest.length === 0 ? undefined : Object.fromEntries(rest) };
}

function encoded(members: JsonObject): string {
  return base64Url(JSON.stringify(members));
}

function base64Url(text: string): string {
  // Fast path: ASCII is its own UTF-8.
  const base64 = ASCII.test(text) ? btoa(text) : encodeBase64(utf8.encode(text));
  return base64.replace(/[+/=]/g, (mark) => URL_SAFE[mark] ?? "");
}

/** The id that a header gives the message of a request. */
export function idIn(headers: Maybe<HttpHeaders>): Maybe<string> {
  const id = headers?.[ID_HEADER];
  if (id === undefined || id === "" || PLAIN_ID.test(id)) return id === "" ? undefined : id;
  throw new DecodeProblem(ID_HEADER, `must be at most ${ID_CHARACTERS} printable characters of ASCII, none of them a space`);
}

/** Adds the values of the request headers to a message. The idempotency-key header takes precedence. */
export function withHeaders(message: Envelope, { facts, ids }: Setting): Envelope {
  const { headers } = facts;
  const carriedMembers = readHeader(headers?.[ENVELOPE_HEADER]);
  const key = headers?.["idempotency-key"];
  if (carriedMembers === undefined) {
    return key === undefined || key === "" ? message : { ...message, context: { ...message.context, idempotencyKey: key } };
  }
  const { id, references, extensions, metadata, rest } = readKoineMembers(carriedMembers, ENVELOPE_HEADER, ids);
  const { context } = rest;
  return {
    id: id ?? message.id,
    ts: rest.ts ?? message.ts,
    src: rest.src ?? message.src,
    dst: rest.dst ?? message.dst,
    intent: rest.intent ?? "",
    role: message.role,
    content: message.content,
    context: key === undefined || key === "" ? context : { ...context, idempotencyKey: key },
    meta: rest.meta,
    references,
    extensions,
    metadata,
    proofs: rest.proofs,
    extra: rest.extra,
  };
}

function readHeader(header: Maybe<string>): Maybe<JsonObject> {
  if (header === undefined || header === "") return undefined;
  if (header.length > ENVELOPE_HEADER_BYTES)
    throw new DecodeProblem(ENVELOPE_HEADER, `is longer than ${ENVELOPE_HEADER_BYTES} bytes`, "too_large");
  const bytes = readBase64(header, ENVELOPE_HEADER);
  let value: unknown;
  try {
    value = readJson(bytes, DEFAULT_LIMITS);
  } catch {
    throw new DecodeProblem(ENVELOPE_HEADER, "is not the base64url of JSON");
  }
  if (isObject(value)) return value;
  throw new DecodeProblem(ENVELOPE_HEADER, "must hold an object");
}
