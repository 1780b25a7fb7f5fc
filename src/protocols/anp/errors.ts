import {
  AgentError,
  ERRORS,
  type ErrorCode,
  type ErrorFacts,
  isErrorCode,
  isObject,
  type JsonObject,
  type Maybe,
} from "../../envelope/index.js";
import type { HttpHeaders } from "../../transport/exchange.js";
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  type RpcError,
} from "../../transport/json-rpc.js";
import { readRetryAfter } from "../../transport/retry-after.js";
import { CODE_OF_STATUS } from "../../transport/status-codes.js";

/** How an error is written: the code of JSON-RPC or of ANP messaging (P1 §9), its name there, and the HTTP status. */
interface ErrorRow {
  readonly rpc: number;
  readonly anp: string;
  /** 200: the answer of a method, as OpenANP writes it. */
  readonly http: number;
}

const row = (rpc: number, anp: string, http = 200): ErrorRow => ({ rpc, anp: `anp.${anp}`, http });

/** All error codes. Where several share a row, `error.data.code` says which. */
export const ERROR_TABLE = {
  invalid_message: row(INVALID_PARAMS, "invalid_params_shape"),
  decode: row(PARSE_ERROR, "invalid_params_shape"),
  encode: row(INTERNAL_ERROR, "delivery_rejected"),
  too_large: row(INVALID_PARAMS, "delivery_rejected", 413),
  unsupported_content: row(1009, "unsupported_content_type"),
  extension_required: row(1001, "unsupported_profile"),
  unsupported_version: row(1001, "unsupported_profile"),
  unsupported: row(1010, "delivery_rejected"),
  unsupported_method: row(METHOD_NOT_FOUND, "unsupported_method"),
  push_unsupported: row(METHOD_NOT_FOUND, "unsupported_method"),
  card_not_configured: row(1007, "target_not_found"),
  downgrade_refused: row(1002, "unsupported_security_profile"),
  task_not_found: row(1007, "target_not_found"),
  not_found: row(1007, "target_not_found"),
  expired: row(1007, "target_not_found"),
  not_cancelable: row(1010, "delivery_rejected"),
  task_closed: row(1010, "delivery_rejected"),
  conflict: row(1008, "idempotency_conflict"),
  loop: row(1010, "delivery_rejected"),
  lost_place: row(1010, "delivery_rejected"),
  unauthenticated: row(1005, "unauthorized", 401),
  bad_signature: row(1005, "unauthorized", 401),
  replayed: row(1005, "unauthorized", 401),
  identity_unresolved: row(1005, "unauthorized", 401),
  session_expired: row(1013, "invalid_security_binding"),
  forbidden: row(1006, "forbidden", 403),
  overloaded: row(1011, "rate_limited", 429),
  unavailable: row(1012, "temporarily_unavailable", 503),
  interrupted: row(1012, "temporarily_unavailable"),
  deadline: row(1012, "temporarily_unavailable"),
  cancelled: row(1012, "temporarily_unavailable"),
  bad_peer: row(1010, "delivery_rejected"),
  handshake_failed: row(1013, "invalid_security_binding", 502),
  internal: row(INTERNAL_ERROR, "internal"),
} as const satisfies Record<ErrorCode, ErrorRow>;

/** The member `error` of a response. */
export function rpcErrorOf(error: AgentError): JsonObject {
  const { field, detail, retryAfterMs } = error.facts;
  const { rpc, anp } = ERROR_TABLE[error.code];
  return {
    code: rpc,
    message: error.message,
    data: {
      anp_code: anp,
      retryable: ERRORS[error.code].again !== "never",
      code: error.code,
      ...(field === undefined || field === "" ? undefined : { field }),
      ...(detail === undefined ? undefined : { details: detail }),
      ...(retryAfterMs === undefined ? undefined : { retry_after_ms: retryAfterMs }),
    },
  };
}

/** The HTTP status of a response with this error. */
export function errorStatus({ code }: AgentError): number {
  return ERROR_TABLE[code].http;
}

/** Peer-supplied text in error messages is truncated. */
const MESSAGE_CHARACTERS = 2_000;
const DETAILS = 32;

/** The codes of peers that write none of ours: JSON-RPC, P1, P3 (2000–2007) and the meta-protocol (1600–1608). */
const BY_RPC_CODE: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [PARSE_ERROR, "invalid_message"],
  [INVALID_REQUEST, "invalid_message"],
  [METHOD_NOT_FOUND, "unsupported_method"],
  [INVALID_PARAMS, "invalid_message"],
  [INTERNAL_ERROR, "internal"],
  [1000, "invalid_message"],
  [1001, "unsupported_version"],
  [1002, "downgrade_refused"],
  [1003, "invalid_message"],
  [1004, "unsupported"],
  [1005, "unauthenticated"],
  [1006, "forbidden"],
  [1007, "not_found"],
  [1008, "conflict"],
  [1009, "unsupported_content"],
  [1010, "unsupported"],
  [1011, "overloaded"],
  [1012, "unavailable"],
  [1013, "bad_signature"],
  [1014, "invalid_message"],
  [1019, "identity_unresolved"],
  [1020, "identity_unresolved"],
  [1021, "identity_unresolved"],
]);

/** The error of a response, in our form or that of another peer. */
export function errorFromRpc({ code, message, data }: RpcError, status?: Maybe<number>, headers: HttpHeaders = {}): AgentError {
  const known = isObject(data) && isErrorCode(data["code"]) ? data["code"] : undefined;
  const meant = known ?? BY_RPC_CODE.get(code) ?? CODE_OF_STATUS.get(status) ?? "internal";
  return new AgentError(meant, textOf(message, `the peer reports error ${code}`), factsOf(data, status, headers));
}

/** The error of a response without JSON-RPC: of a proxy, or of the authentication in front of an agent. */
export function errorFromHttp(body: unknown, status: number, headers: HttpHeaders): AgentError {
  if (isObject(body) && isObject(body["error"]) && typeof body["error"]["code"] === "number") {
    const { code, message, data } = body["error"];
    return errorFromRpc({ code: Number(code), message: typeof message === "string" ? message : "", data }, status, headers);
  }
  const code = CODE_OF_STATUS.get(status) ?? (status >= 400 && status < 500 ? "invalid_message" : "internal");
  // FastAPI, and with it the SDK, answers { detail }; the seeds answer { error }.
  const text = isObject(body) ? (body["detail"] ?? body["error"] ?? body["message"]) : undefined;
  const why = reasonIn(headers) ?? (typeof text === "string" ? text : undefined);
  return new AgentError(code, textOf(why, `the peer answered with HTTP status ${status}`), factsOf(undefined, status, headers));
}

/** What a challenge says is wrong: `DIDWba realm="…", error="…", error_description="…"`. */
function reasonIn(headers: HttpHeaders): Maybe<string> {
  const challenge = headers["www-authenticate"];
  const name = challenge && /\berror="([^"]{1,100})"/.exec(challenge)?.[1];
  if (name === undefined || name === "") return undefined;
  const description = challenge && /\berror_description="([^"]{1,500})"/.exec(challenge)?.[1];
  return description === undefined ? name : `${name}: ${description}`;
}

function factsOf(data: unknown, status: Maybe<number>, headers: HttpHeaders): ErrorFacts {
  const members = isObject(data) ? data : {};
  const { field, retry_after_ms: after } = members;
  const detail = textsIn(members["details"]);
  const retryAfterMs = typeof after === "number" && after >= 0 ? after : readRetryAfter(headers);
  return {
    ...(typeof field === "string" ? { field: field.slice(0, MESSAGE_CHARACTERS) } : undefined),
    ...(detail === undefined ? undefined : { detail }),
    ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
    ...(status === undefined ? undefined : { status }),
  };
}

function textsIn(details: unknown): Maybe<{ readonly [name: string]: string }> {
  if (!isObject(details)) return undefined;
  const texts = Object.entries(details)
    .slice(0, DETAILS)
    .flatMap(([name, value]): [string, string][] =>
      typeof value === "string" ? [[name, value.slice(0, MESSAGE_CHARACTERS)]] : [],
    );
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}

function textOf(text: Maybe<string>, otherwise: string): string {
  return text === undefined || text === "" ? otherwise : text.slice(0, MESSAGE_CHARACTERS);
}
