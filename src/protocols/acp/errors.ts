import {
  AgentError,
  type ErrorCode,
  type ErrorFacts,
  type Failure,
  isErrorCode,
  isObject,
  type JsonObject,
  type LossSink,
  type Maybe,
} from "../../envelope/index.js";
import type { HttpHeaders } from "../../transport/exchange.js";
import { readRetryAfter } from "../../transport/retry-after.js";
import { CODE_OF_STATUS } from "../../transport/status-codes.js";
import type { WireError, WireErrorCode } from "./wire.js";

/** How an error code is written. The TypeScript client accepts only three codes, so the exact one is in `data`. */
interface ErrorRow {
  readonly http: number;
  readonly code: WireErrorCode;
}

const row = (http: number, code: WireErrorCode): ErrorRow => ({ http, code });

/** All error codes. Statuses that the SDK server uses are the same here. */
export const ERROR_TABLE = {
  invalid_message: row(422, "invalid_input"),
  decode: row(422, "invalid_input"),
  unsupported_content: row(422, "invalid_input"),
  too_large: row(413, "invalid_input"),
  extension_required: row(400, "invalid_input"),
  unsupported_version: row(400, "invalid_input"),
  downgrade_refused: row(400, "invalid_input"),
  unsupported: row(400, "invalid_input"),
  push_unsupported: row(400, "invalid_input"),
  conflict: row(409, "invalid_input"),
  replayed: row(409, "invalid_input"),
  session_expired: row(409, "invalid_input"),
  loop: row(508, "invalid_input"),
  task_not_found: row(404, "not_found"),
  not_found: row(404, "not_found"),
  card_not_configured: row(404, "not_found"),
  expired: row(410, "not_found"),
  unsupported_method: row(405, "server_error"),
  not_cancelable: row(403, "server_error"),
  task_closed: row(403, "server_error"),
  forbidden: row(403, "server_error"),
  unauthenticated: row(401, "server_error"),
  bad_signature: row(401, "server_error"),
  identity_unresolved: row(401, "server_error"),
  overloaded: row(429, "server_error"),
  unavailable: row(503, "server_error"),
  interrupted: row(502, "server_error"),
  bad_peer: row(502, "server_error"),
  handshake_failed: row(502, "server_error"),
  deadline: row(504, "server_error"),
  cancelled: row(499, "server_error"),
  lost_place: row(500, "server_error"),
  encode: row(500, "server_error"),
  internal: row(500, "server_error"),
} as const satisfies Record<ErrorCode, ErrorRow>;

/** Two different session ids in one request: the SDK server answers 400 here, and 422 to other invalid requests. */
export function sessionMismatch(): AgentError {
  return new AgentError("invalid_message", "Session ID mismatch", { field: "session_id", status: 400 });
}

/** The HTTP status of an error response. */
export function errorStatus({ code, facts }: AgentError): number {
  return code === "invalid_message" && facts.status === 400 ? 400 : ERROR_TABLE[code].http;
}

/** The body of an error response, and the `error` event of a broken stream. */
export function wireErrorOf(error: AgentError): WireError {
  const { field, detail } = error.facts;
  const details = field === undefined || field === "" ? detail : { ...detail, field };
  return { code: ERROR_TABLE[error.code].code, message: error.message, data: { ...details, code: error.code } };
}

/** The `error` of a failed run. */
export function wireErrorOfFailure({ code, message }: Failure): WireError {
  return { code: ERROR_TABLE[code].code, message, data: { code } };
}

// Peer-supplied text in error messages is truncated.
const MESSAGE_CHARACTERS = 2_000;
const DETAILS = 32;

const BY_WIRE_CODE: ReadonlyMap<unknown, ErrorCode> = new Map<unknown, ErrorCode>([
  ["invalid_input", "invalid_message"],
  ["not_found", "not_found"],
]);

/** The error of a failed run. Unknown codes are mapped to the nearest, with the message of the peer. */
export function failureFrom(error: JsonObject, reportLoss: LossSink): Failure {
  const code = ownCode(error) ?? BY_WIRE_CODE.get(error.code) ?? "internal";
  if (isObject(error.data) && Object.keys(error.data).some((name) => name !== "code"))
    reportLoss({ protocol: "acp", path: "task.status.error", valueKind: "object", reason: "a failure carries no details" });
  return { code, message: messageOf(error.message, "the run failed") };
}

/**
 * Decodes an error response, or the `error` event of a stream. `meant` gives the meaning of an ambiguous status for the
 * operation.
 */
export function errorFromWire(
  body: unknown,
  status?: number,
  headers: HttpHeaders = {},
  meant?: ReadonlyMap<number, ErrorCode>,
): AgentError {
  const error = isObject(body) ? body : {};
  // A rejection in ACP format comes from the agent server; any other may come from a proxy.
  const isOwnForm = typeof error.code === "string";
  const code =
    ownCode(error) ??
    (isOwnForm && status !== undefined ? meant?.get(status) : undefined) ??
    CODE_OF_STATUS.get(status) ??
    BY_WIRE_CODE.get(error.code) ??
    (status !== undefined && status >= 400 && status < 500 ? "invalid_message" : "internal");
  const otherwise =
    status === undefined ? "the stream of the run was interrupted" : `the peer answered with HTTP status ${status}`;
  return new AgentError(code, messageOf(error.message, otherwise), factsOf(error.data, status, headers));
}

function ownCode({ data }: JsonObject): Maybe<ErrorCode> {
  const code = isObject(data) ? data.code : undefined;
  return isErrorCode(code) ? code : undefined;
}

function factsOf(data: unknown, status: Maybe<number>, headers: HttpHeaders): ErrorFacts {
  const field = isObject(data) && typeof data.field === "string" ? data.field.slice(0, MESSAGE_CHARACTERS) : undefined;
  const detail = textsIn(data);
  const retryAfterMs = readRetryAfter(headers);
  return {
    ...(field === undefined ? undefined : { field }),
    ...(detail === undefined ? undefined : { detail }),
    ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
    ...(status === undefined ? undefined : { status }),
  };
}

function textsIn(data: unknown): Maybe<{ readonly [name: string]: string }> {
  if (!isObject(data)) return undefined;
  const texts: [string, string][] = [];
  for (const [name, value] of Object.entries(data).slice(0, DETAILS))
    if (name !== "code" && name !== "field" && typeof value === "string") texts.push([name, value.slice(0, MESSAGE_CHARACTERS)]);
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}

function messageOf(text: unknown, otherwise: string): string {
  return typeof text === "string" && text !== "" ? text.slice(0, MESSAGE_CHARACTERS) : otherwise;
}
