import { AgentError, encodeBase64, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { readBase64 } from "../../../transport/read-base64.js";
import type { GrpcStatus } from "../error-tables.js";
import { decodeMessage } from "./decode.js";
import { encodeMessage } from "./encode.js";
import type { MessageType } from "./schema.js";
import { STATUS_SCHEMA } from "./schema-status.js";

const { Status, ErrorInfo, BadRequest, RetryInfo } = STATUS_SCHEMA;
const NO_ROOM = new Uint8Array(0);
/** Limit of the trailers: common clients allow 8 KiB (RFC 9113 §6.5.2 counts more than the characters). */
const TRAILER_CHARACTERS = 7_000;
const MESSAGE_CHARACTERS = 1_000;
/** A character outside ASCII takes up to nine of these, and details repeat the message. */
const ENCODED_MESSAGE_CHARACTERS = 3_000;
/** Overhead of Status, Any and its message. */
const DETAILS_LIMITS = { jsonDepth: 8, jsonValues: 1_000 } as const;

/** In the order of their numbers. */
const CODES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

const TYPES: ReadonlyMap<unknown, MessageType> = new Map(
  [ErrorInfo, BadRequest, RetryInfo].map((type) => [`type.googleapis.com/google.rpc.${type.name}`, type]),
);

/** The status of a call, from its trailers. */
interface CallStatus {
  readonly status: string;
  readonly message: string;
  /** In their JSON form, with `@type`. */
  readonly details: readonly JsonObject[];
}

export const OK: { readonly [name: string]: string } = Object.freeze({ "grpc-status": "0" });

/** The trailers of a failed call. */
export function writeStatus(
  status: GrpcStatus,
  text: string,
  details: readonly JsonObject[],
): { readonly [name: string]: string } {
  const code = CODES.indexOf(status);
  const message = fitting(text);
  const trailers = { "grpc-status": `${code}`, "grpc-message": percentEncoded(message) };
  const written = encodeBase64(encodeMessage(Status, { code, message, details: details.flatMap(writeAny) }, NO_ROOM));
  // Without padding, as the gRPC specification recommends.
  const bin = written.replace(/=+$/, "");
  const isTooLong = trailers["grpc-message"].length + bin.length > TRAILER_CHARACTERS;
  return isTooLong ? trailers : { ...trailers, "grpc-status-details-bin": bin };
}

function writeAny(detail: JsonObject): readonly JsonObject[] {
  const typeUrl = detail["@type"];
  const type = TYPES.get(typeUrl);
  return type === undefined ? [] : [{ typeUrl, value: encodeBase64(encodeMessage(type, detail, NO_ROOM)) }];
}

/** Undefined if the headers have no status. Invalid details are ignored. */
export function readStatus(headers: { readonly [name: string]: Maybe<string> }): Maybe<CallStatus> {
  const code = headers["grpc-status"];
  if (code === undefined) return undefined;
  const status = (/^\d{1,2}$/.test(code) ? CODES[Number(code)] : undefined) ?? "UNKNOWN";
  return {
    status,
    message: percentDecoded(headers["grpc-message"] ?? ""),
    details: readDetails(headers["grpc-status-details-bin"]),
  };
}

function readDetails(header: Maybe<string>): readonly JsonObject[] {
  if (header === undefined) return [];
  try {
    const { details } = decodeMessage(Status, readBase64(header.split(",", 1)[0], ""), DETAILS_LIMITS);
    return Array.isArray(details) ? details.flatMap(readAny) : [];
  } catch {
    return [];
  }
}

function readAny({ typeUrl, value }: JsonObject): readonly JsonObject[] {
  const type = TYPES.get(typeUrl);
  if (type === undefined) return [];
  return [{ "@type": typeUrl, ...decodeMessage(type, readBase64(value ?? "", ""), DETAILS_LIMITS) }];
}

/** Percent-encodes everything but printable ASCII, as UTF-8. */
function percentEncoded(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd").replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);
}

/** The message, truncated to the available space. */
function fitting(text: string): string {
  let message = text.slice(0, MESSAGE_CHARACTERS);
  while (percentEncoded(message).length > ENCODED_MESSAGE_CHARACTERS) message = message.slice(0, message.length >> 1);
  return message;
}

/** Invalid escapes are kept literally. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The gRPC status for an HTTP status, from the table of the gRPC documentation. */
const BY_HTTP: ReadonlyMap<number, string> = new Map([
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "UNIMPLEMENTED"],
  [429, "UNAVAILABLE"],
  [502, "UNAVAILABLE"],
  [503, "UNAVAILABLE"],
  [504, "UNAVAILABLE"],
]);

export function statusOfHttp(status: number): Maybe<string> {
  return BY_HTTP.get(status);
}

/** A response without a status was truncated. */
export function endedWithoutStatus(): AgentError {
  return new AgentError("interrupted", "the answer ended without a gRPC status", { sent: "maybe" });
}
