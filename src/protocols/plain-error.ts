import { AgentError, type ErrorCode, isErrorCode, isObject, type Maybe } from "../envelope/index.js";
import type { HttpHeaders, HttpResponse } from "../transport/exchange.js";
import { jsonBody, refuseRedirect } from "../transport/peer-answer.js";
import { readRetryAfter } from "../transport/retry-after.js";
import { CODE_OF_STATUS } from "../transport/status-codes.js";

/** Peer-supplied text in error messages is truncated. */
const MESSAGE_CHARACTERS = 2_000;

/** Throws the error of an unsuccessful response of a plain endpoint. */
export function checkPlainStatus(response: HttpResponse): void {
  refuseRedirect(response);
  if (response.status < 300) return;
  let body: unknown;
  try {
    body = jsonBody(response);
  } catch {
    // Not JSON: use the HTTP status alone.
  }
  throw plainErrorFrom(isObject(body) ? body["error"] : undefined, response.status, response.headers);
}

/** The `error` of a plain reply: a text, as reference agents write it, or `{code, reason, message, field}`. */
export function plainErrorFrom(error: unknown, status?: number, headers: HttpHeaders = {}): AgentError {
  const members = isObject(error) ? error : {};
  const { reason, field } = members;
  const words = typeof error === "string" ? error : members["message"];
  const message = typeof words === "string" && words !== "" ? words : otherwise(status);
  const retryAfterMs = readRetryAfter(headers);
  return new AgentError(isErrorCode(reason) ? reason : codeOf(status), message.slice(0, MESSAGE_CHARACTERS), {
    sent: "maybe",
    ...(status === undefined ? undefined : { status }),
    ...(typeof field === "string" ? { field: field.slice(0, MESSAGE_CHARACTERS) } : undefined),
    ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
  });
}

function otherwise(status: Maybe<number>): string {
  return status === undefined ? "the peer reported an error" : `the peer answered with HTTP status ${status}`;
}

function codeOf(status: Maybe<number>): ErrorCode {
  const known = CODE_OF_STATUS.get(status);
  return known ?? (status !== undefined && status >= 400 && status < 500 ? "invalid_message" : "internal");
}
