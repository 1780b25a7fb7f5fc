import type { ErrorCode } from "../../envelope/index.js";
import type { ErrorProfile } from "./settings.js";

/** How an error code is written by A2A bindings, in both published tables (1.0.0 and 1.0.1). */
export interface ErrorRow {
  /** `ErrorInfo.reason`. */
  readonly reason: string;
  /** A2A errors have a name, a code in its JSON-RPC range, and a type URI; the others are generic. */
  readonly slug?: string;
  readonly rpc: number;
  readonly grpc: Readonly<Record<ErrorProfile, GrpcStatus>>;
  readonly http: Readonly<Record<ErrorProfile, number>>;
}

export type GrpcStatus =
  | "CANCELLED"
  | "INVALID_ARGUMENT"
  | "DEADLINE_EXCEEDED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE"
  | "DATA_LOSS"
  | "UNAUTHENTICATED";

/** Domain of the A2A reasons (§9.5, §11.6); other reasons are in the Koine domain. */
export const A2A_DOMAIN = "a2a-protocol.org";
export const OWN_DOMAIN = "koine";
/** Problem `type` of release candidate and seed (§5.4). */
export const TYPE_URI = "https://a2a-protocol.org/errors/";

/** JSON-RPC 2.0 §5.1. -32000 is the one server error that A2A does not use (its own are -32001 and below). */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const SERVER_ERROR = -32000;

function same<T>(value: T): Readonly<Record<ErrorProfile, T>> {
  return { "1.0.1": value, "1.0.0": value };
}

function generic(reason: string, rpc: number, grpc: GrpcStatus, http: number): ErrorRow {
  return { reason, rpc, grpc: same(grpc), http: same(http) };
}

// A2A 1.0 §5.4 as published: six cells changed between 1.0.0 (the seed's table) and 1.0.1.
const TASK_NOT_FOUND: ErrorRow = {
  reason: "TASK_NOT_FOUND",
  slug: "task-not-found",
  rpc: -32001,
  grpc: same("NOT_FOUND"),
  http: same(404),
};
const TASK_NOT_CANCELABLE: ErrorRow = {
  reason: "TASK_NOT_CANCELABLE",
  slug: "task-not-cancelable",
  rpc: -32002,
  grpc: same("FAILED_PRECONDITION"),
  http: { "1.0.1": 400, "1.0.0": 409 },
};
const PUSH_NOT_SUPPORTED: ErrorRow = {
  reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
  slug: "push-notification-not-supported",
  rpc: -32003,
  grpc: { "1.0.1": "FAILED_PRECONDITION", "1.0.0": "UNIMPLEMENTED" },
  http: same(400),
};
const UNSUPPORTED_OPERATION: ErrorRow = {
  reason: "UNSUPPORTED_OPERATION",
  slug: "unsupported-operation",
  rpc: -32004,
  grpc: { "1.0.1": "FAILED_PRECONDITION", "1.0.0": "UNIMPLEMENTED" },
  http: same(400),
};
const CONTENT_NOT_SUPPORTED: ErrorRow = {
  reason: "CONTENT_TYPE_NOT_SUPPORTED",
  slug: "content-type-not-supported",
  rpc: -32005,
  grpc: same("INVALID_ARGUMENT"),
  http: { "1.0.1": 400, "1.0.0": 415 },
};
const INVALID_RESPONSE: ErrorRow = {
  reason: "INVALID_AGENT_RESPONSE",
  slug: "invalid-agent-response",
  rpc: -32006,
  grpc: same("INTERNAL"),
  http: { "1.0.1": 500, "1.0.0": 502 },
};
const CARD_NOT_CONFIGURED: ErrorRow = {
  reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
  slug: "extended-agent-card-not-configured",
  rpc: -32007,
  grpc: same("FAILED_PRECONDITION"),
  http: same(400),
};
const EXTENSION_REQUIRED: ErrorRow = {
  reason: "EXTENSION_SUPPORT_REQUIRED",
  slug: "extension-support-required",
  rpc: -32008,
  grpc: same("FAILED_PRECONDITION"),
  http: same(400),
};
const VERSION_NOT_SUPPORTED: ErrorRow = {
  reason: "VERSION_NOT_SUPPORTED",
  slug: "version-not-supported",
  rpc: -32009,
  grpc: { "1.0.1": "FAILED_PRECONDITION", "1.0.0": "UNIMPLEMENTED" },
  http: same(400),
};

/** All Koine codes. The exact code is sent beside the A2A error, for Koine peers. */
export const ERROR_TABLE = {
  task_not_found: TASK_NOT_FOUND,
  not_cancelable: TASK_NOT_CANCELABLE,
  push_unsupported: PUSH_NOT_SUPPORTED,
  unsupported: UNSUPPORTED_OPERATION,
  unsupported_content: CONTENT_NOT_SUPPORTED,
  bad_peer: INVALID_RESPONSE,
  card_not_configured: CARD_NOT_CONFIGURED,
  extension_required: EXTENSION_REQUIRED,
  unsupported_version: VERSION_NOT_SUPPORTED,

  // Koine codes, mapped to the A2A error with the closest meaning.
  task_closed: UNSUPPORTED_OPERATION,
  downgrade_refused: UNSUPPORTED_OPERATION,

  decode: generic("PARSE_ERROR", PARSE_ERROR, "INVALID_ARGUMENT", 400),
  too_large: generic("TOO_LARGE", INVALID_REQUEST, "RESOURCE_EXHAUSTED", 413),
  unsupported_method: generic("METHOD_NOT_FOUND", METHOD_NOT_FOUND, "UNIMPLEMENTED", 404),
  invalid_message: generic("INVALID_PARAMS", INVALID_PARAMS, "INVALID_ARGUMENT", 400),
  not_found: generic("NOT_FOUND", INVALID_PARAMS, "NOT_FOUND", 404),
  conflict: generic("CONFLICT", INVALID_PARAMS, "ALREADY_EXISTS", 409),
  expired: generic("EXPIRED", INVALID_PARAMS, "FAILED_PRECONDITION", 410),
  replayed: generic("REPLAYED", INVALID_REQUEST, "ALREADY_EXISTS", 409),
  session_expired: generic("SESSION_EXPIRED", INVALID_REQUEST, "FAILED_PRECONDITION", 409),
  loop: generic("LOOP_DETECTED", INVALID_REQUEST, "FAILED_PRECONDITION", 508),
  unauthenticated: generic("UNAUTHENTICATED", SERVER_ERROR, "UNAUTHENTICATED", 401),
  bad_signature: generic("BAD_SIGNATURE", SERVER_ERROR, "UNAUTHENTICATED", 401),
  identity_unresolved: generic("IDENTITY_UNRESOLVED", SERVER_ERROR, "UNAUTHENTICATED", 401),
  handshake_failed: generic("HANDSHAKE_FAILED", SERVER_ERROR, "UNAVAILABLE", 502),
  forbidden: generic("PERMISSION_DENIED", SERVER_ERROR, "PERMISSION_DENIED", 403),
  overloaded: generic("RESOURCE_EXHAUSTED", SERVER_ERROR, "RESOURCE_EXHAUSTED", 429),
  unavailable: generic("UNAVAILABLE", SERVER_ERROR, "UNAVAILABLE", 503),
  interrupted: generic("INTERRUPTED", SERVER_ERROR, "UNAVAILABLE", 502),
  deadline: generic("DEADLINE_EXCEEDED", SERVER_ERROR, "DEADLINE_EXCEEDED", 504),
  cancelled: generic("CANCELLED", SERVER_ERROR, "CANCELLED", 499),
  lost_place: generic("LOST_PLACE", INTERNAL_ERROR, "DATA_LOSS", 500),
  encode: generic("INTERNAL_ERROR", INTERNAL_ERROR, "INTERNAL", 500),
  internal: generic("INTERNAL_ERROR", INTERNAL_ERROR, "INTERNAL", 500),
} as const satisfies Record<ErrorCode, ErrorRow>;

export function errorRow(code: ErrorCode): ErrorRow {
  return ERROR_TABLE[code];
}

/** The table as rows, A2A errors first: the source of `docs/errors.md`. */
export function errorRows(): readonly (ErrorRow & { readonly code: ErrorCode })[] {
  const codes = Object.keys(ERROR_TABLE) as ErrorCode[]; // the table has exactly these keys
  return codes.map((code) => ({ code, ...errorRow(code) }));
}
