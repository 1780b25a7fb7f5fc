import {
  AgentError,
  type ErrorCode,
  type ErrorFacts,
  isErrorCode,
  isObject,
  type JsonObject,
  type Maybe,
} from "../../envelope/index.js";
import type { HttpHeaders } from "../../transport/exchange.js";
import { readRetryAfter } from "../../transport/retry-after.js";
import { CODE_OF_STATUS } from "../../transport/status-codes.js";
import { A2A_DOMAIN, type ErrorRow, errorRow, errorRows, type GrpcStatus, OWN_DOMAIN, TYPE_URI } from "./error-tables.js";
import type { OperationName } from "./operations.js";
import type { ErrorProfile } from "./settings.js";

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
/** The member of `ErrorInfo.metadata` with the Koine error code, which is more specific than that of A2A. */
const CODE_KEY = "koineCode";

// 0.3 ends at -32007: newer codes are written as an unsupported operation.
const LAST_LEGACY_CODE = -32007;
const UNSUPPORTED_OPERATION = -32004;

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: JsonObject | readonly JsonObject[];
}

/** The `error` member of a JSON-RPC response (A2A 1.0 §9.5). */
export function rpcErrorOf(error: AgentError, version: "1.0" | "0.3"): RpcError {
  const { rpc } = errorRow(error.code);
  const details = detailsOf(error);
  if (version === "0.3") return { code: legacyCode(rpc), message: error.message, data: legacyData(details) };
  return { code: rpc, message: error.message, data: details };
}

/** 0.3 leaves `data` open; the clients of Go and Java read an object. It is the first detail, with the others inside. */
function legacyData([info, ...others]: readonly JsonObject[]): JsonObject {
  return others.length === 0 ? { ...info } : { ...info, details: others };
}

/** Status and body of a REST error. The seed's table also writes the problem members (RFC 9457) beside `error`. */
export function restErrorOf(
  error: AgentError,
  version: "1.0" | "0.3",
  profile: ErrorProfile,
): { readonly status: number; readonly body: JsonObject } {
  const row = errorRow(error.code);
  const details = detailsOf(error);
  // 0.3 defined no table; its servers used what became 1.0.0. JavaScript reads `code`, Python `type`.
  if (version === "0.3") {
    const body = { code: legacyCode(row.rpc), type: classOf(row), message: error.message, data: legacyData(details) };
    return { status: row.http["1.0.0"], body };
  }
  const status = row.http[profile];
  const body = { code: status, status: row.grpc[profile], message: error.message, details };
  if (profile !== "1.0.0") return { status, body: { error: body } };
  return { status, body: { error: body, type: typeOf(row), title: titleOf(row), status, detail: error.message } };
}

/**
 * Status and details of a failed gRPC call. 0.3 uses the table of 1.0.0, as on REST; Python reads the class name before the
 * message.
 */
export function grpcErrorOf(
  error: AgentError,
  version: "1.0" | "0.3",
  profile: ErrorProfile,
): { readonly status: GrpcStatus; readonly message: string; readonly details: readonly JsonObject[] } {
  const row = errorRow(error.code);
  const status = row.grpc[version === "0.3" ? "1.0.0" : profile];
  const message = version === "0.3" ? `${classOf(row)}: ${error.message}` : error.message;
  const { retryAfterMs } = error.facts;
  if (retryAfterMs === undefined) return { status, message, details: detailsOf(error) };
  const seconds = Math.floor(retryAfterMs / 1000);
  const retryDelay = { seconds, nanos: Math.round((retryAfterMs - seconds * 1000) * 1_000_000) };
  return { status, message, details: [...detailsOf(error), { "@type": RETRY_INFO, retryDelay }] };
}

function legacyCode(rpc: number): number {
  return rpc < LAST_LEGACY_CODE && rpc > -32100 ? UNSUPPORTED_OPERATION : rpc;
}

/** RFC 9457: `about:blank` if the status is sufficient. */
function typeOf({ slug }: ErrorRow): string {
  return slug === undefined ? "about:blank" : `${TYPE_URI}${slug}`;
}

function titleOf({ reason }: ErrorRow): string {
  const words = reason.toLowerCase().replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** The class name of the error in the SDKs: `TaskNotFoundError`, `InternalError`. */
function classOf({ reason }: ErrorRow): string {
  if (reason === "PARSE_ERROR") return "JSONParseError";
  const words = reason.split("_").map((word) => word.charAt(0) + word.slice(1).toLowerCase());
  return words.at(-1) === "Error" ? words.join("") : `${words.join("")}Error`;
}

function detailsOf(error: AgentError): readonly JsonObject[] {
  const { reason, slug } = errorRow(error.code);
  const { field, detail } = error.facts;
  const info: JsonObject = {
    "@type": ERROR_INFO,
    reason,
    domain: slug === undefined ? OWN_DOMAIN : A2A_DOMAIN,
    metadata: { ...detail, [CODE_KEY]: error.code },
  };
  if (field === undefined || field === "") return [info];
  return [info, { "@type": BAD_REQUEST, fieldViolations: [{ field, description: error.message }] }];
}

// Peer-supplied text in error messages is truncated.
const MESSAGE_CHARACTERS = 2_000;
const DETAILS = 32;

// The first row wins: A2A errors precede Koine errors that map to them.
const ownRows = errorRows().filter(({ slug }) => slug !== undefined);
const byReason = new Map<unknown, ErrorCode>([["INVALID_PARAMS", "invalid_message"]]);
const bySlug = new Map<string, ErrorCode>();
// The generic errors have no row of A2A; these are their names in the SDKs.
const byClass = new Map<string, ErrorCode>([
  ["JSONParseError", "decode"],
  ["InvalidRequestError", "invalid_message"],
  ["MethodNotFoundError", "unsupported_method"],
  ["InvalidParamsError", "invalid_message"],
  ["InternalError", "internal"],
]);
const byRpc = new Map<unknown, ErrorCode>([
  [-32700, "decode"],
  [-32600, "invalid_message"],
  [-32601, "unsupported_method"],
  [-32602, "invalid_message"],
  [-32603, "internal"],
  [-31401, "unauthenticated"], // of the Go SDK, as the next
  [-31403, "forbidden"],
]);
for (const row of ownRows) {
  const { code, reason, slug = "", rpc } = row;
  if (!byClass.has(classOf(row))) byClass.set(classOf(row), code);
  if (!byReason.has(reason)) byReason.set(reason, code);
  if (!bySlug.has(slug)) bySlug.set(slug, code);
  if (!byRpc.has(rpc)) byRpc.set(rpc, code);
}

const BY_GRPC: ReadonlyMap<unknown, ErrorCode> = new Map<unknown, ErrorCode>([
  ["INVALID_ARGUMENT", "invalid_message"],
  ["NOT_FOUND", "not_found"],
  ["ALREADY_EXISTS", "conflict"],
  ["PERMISSION_DENIED", "forbidden"],
  ["UNAUTHENTICATED", "unauthenticated"],
  ["RESOURCE_EXHAUSTED", "overloaded"],
  ["UNIMPLEMENTED", "unsupported"],
  ["UNAVAILABLE", "unavailable"],
  ["DEADLINE_EXCEEDED", "deadline"],
  ["CANCELLED", "cancelled"],
]);

/** Decodes a JSON-RPC error object. Unknown errors become `internal` with the message of the peer. */
export function errorFromRpc(error: unknown, status?: number, headers: HttpHeaders = {}): AgentError {
  const object = isObject(error) ? error : {};
  const details = detailsIn(object.data);
  const code = codeOfInfo(details) ?? byRpc.get(object.code) ?? codeOfStatus(status) ?? "internal";
  return new AgentError(
    code,
    messageOf(object.message, `the peer answered with error ${shown(object.code)}`),
    factsOf(details, status, headers),
  );
}

/**
 * Decodes a REST error: `{error: {…}}` (google.rpc.Status, JSON-RPC), a problem, and the forms of 0.3: `{code, message, data}`
 * (JavaScript), `{type, message}` (Python), `{error: "class name", message}` (Java), `{message}` and `{detail}` (frameworks).
 */
export function errorFromRest(status: number, body: unknown, headers: HttpHeaders = {}): AgentError {
  const object = isObject(body) ? body : {};
  const inner = isObject(object.error) ? object.error : object;
  const details = detailsIn(inner.details ?? inner.data);
  const code =
    codeOfInfo(details) ??
    codeOfType(inner.type ?? object.type) ??
    codeOfType(object.error) ??
    byRpc.get(inner.code) ??
    codeOfTransport(status, inner.status) ??
    "internal";
  const text = inner.message ?? object.message ?? object.detail ?? object.title ?? object.error;
  return new AgentError(code, messageOf(text, `the peer answered with HTTP status ${status}`), factsOf(details, status, headers));
}

/**
 * Decodes a failed gRPC call. 0.3 servers put the class name before the message and may omit the details. A bare status is
 * interpreted by the operation; an unknown path has its own status.
 */
export function errorFromGrpc(
  { status, message, details }: { readonly status: string; readonly message: string; readonly details: readonly JsonObject[] },
  name: OperationName,
  headers: HttpHeaders = {},
): AgentError {
  const infos = detailsIn(details);
  const [, named = "", words = message] = /^(\w+Error): (.*)$/s.exec(message) ?? [];
  const code = codeOfInfo(infos) ?? byClass.get(named) ?? meantBy(status, name) ?? BY_GRPC.get(status) ?? "internal";
  return new AgentError(
    code,
    messageOf(words, `the peer answered with gRPC status ${status}`),
    factsOf(infos, undefined, headers),
  );
}

function meantBy(status: string, name: OperationName): Maybe<ErrorCode> {
  if (status === "NOT_FOUND" && name !== "ListTasks" && name !== "GetExtendedAgentCard") return "task_not_found";
  if (status !== "FAILED_PRECONDITION") return undefined;
  return name === "CancelTask" ? "not_cancelable" : "unsupported";
}

/** A list of details, or one that may contain others: 0.3 leaves the form open. */
function detailsIn(value: unknown): readonly JsonObject[] {
  if (Array.isArray(value)) return value.slice(0, DETAILS).filter(isObject);
  return isObject(value) ? [value, ...(Array.isArray(value.details) ? detailsIn(value.details) : [])] : [];
}

/** The Koine code is the most specific. A reason counts only in the A2A domain, or without a domain. */
function codeOfInfo(details: readonly JsonObject[]): Maybe<ErrorCode> {
  const infos = details.filter((detail) => detail["@type"] === ERROR_INFO);
  for (const { metadata } of infos) {
    const own = isObject(metadata) ? metadata[CODE_KEY] : undefined;
    if (isErrorCode(own)) return own;
  }
  for (const { reason, domain } of infos) {
    const code = domain === undefined || domain === A2A_DOMAIN ? byReason.get(reason) : undefined;
    if (code !== undefined) return code;
  }
  return undefined;
}

/** A URI in the release candidate, the SDK's class name on 0.3 REST, in Java with its package. */
function codeOfType(type: unknown): Maybe<ErrorCode> {
  if (typeof type !== "string") return undefined;
  return type.startsWith(TYPE_URI) ? bySlug.get(type.slice(TYPE_URI.length)) : byClass.get(type.replace(/^.*\./, ""));
}

/** A gRPC status name is more specific than HTTP 400 or 500. */
function codeOfTransport(status: number, grpc: unknown): Maybe<ErrorCode> {
  return CODE_OF_STATUS.get(status) ?? BY_GRPC.get(grpc) ?? codeOfStatus(status);
}

function codeOfStatus(status: Maybe<number>): Maybe<ErrorCode> {
  if (status === undefined) return undefined;
  const code = CODE_OF_STATUS.get(status);
  if (code !== undefined) return code;
  return status >= 400 && status < 500 ? "invalid_message" : undefined;
}

function factsOf(details: readonly JsonObject[], status: Maybe<number>, headers: HttpHeaders): ErrorFacts {
  const field = fieldIn(details);
  const detail = textsIn(details);
  const retryAfterMs = retryDelayIn(details) ?? readRetryAfter(headers);
  return {
    ...(field === undefined ? undefined : { field }),
    ...(detail === undefined ? undefined : { detail }),
    ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
    ...(status === undefined ? undefined : { status }),
  };
}

function fieldIn(details: readonly JsonObject[]): Maybe<string> {
  const bad = details.find((detail) => detail["@type"] === BAD_REQUEST);
  const violations = bad?.fieldViolations ?? bad?.field_violations;
  const first: unknown = Array.isArray(violations) ? violations[0] : undefined;
  return isObject(first) && typeof first.field === "string" ? first.field.slice(0, MESSAGE_CHARACTERS) : undefined;
}

/** The facts of the first ErrorInfo, without the Koine code. */
function textsIn(details: readonly JsonObject[]): Maybe<{ readonly [name: string]: string }> {
  const metadata = details.find((detail) => detail["@type"] === ERROR_INFO)?.metadata;
  if (!isObject(metadata)) return undefined;
  const texts: [string, string][] = [];
  for (const [name, value] of Object.entries(metadata).slice(0, DETAILS))
    if (name !== CODE_KEY && typeof value === "string") texts.push([name, value.slice(0, MESSAGE_CHARACTERS)]);
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}

function retryDelayIn(details: readonly JsonObject[]): Maybe<number> {
  const delay = details.find((detail) => detail["@type"] === RETRY_INFO)?.retryDelay;
  if (!isObject(delay)) return undefined;
  const { seconds = 0, nanos = 0 } = delay;
  return typeof seconds === "number" && typeof nanos === "number" ? seconds * 1000 + Math.floor(nanos / 1_000_000) : undefined;
}

function messageOf(text: unknown, otherwise: string): string {
  return typeof text === "string" && text !== "" ? text.slice(0, MESSAGE_CHARACTERS) : otherwise;
}

function shown(code: unknown): string {
  return typeof code === "number" ? `${code}` : "without a code";
}
