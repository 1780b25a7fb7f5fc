import { type AgentError, ERRORS, type Maybe } from "../envelope/index.js";
import type { HttpResponse } from "./exchange.js";

const JSON_HEADERS = Object.freeze({ "content-type": "application/json" });

export function jsonResponse(status: number, text: string, headers?: { readonly [name: string]: string }): HttpResponse {
  return { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }, body: text };
}

/** Headers that accompany an error: the authentication challenge and the retry delay. */
export function errorHeaders({ facts }: AgentError): Maybe<{ readonly [name: string]: string }> {
  if (facts.retryAfterMs === undefined) return facts.head;
  return { "retry-after": String(Math.ceil(facts.retryAfterMs / 1000)), ...facts.head };
}

/** The default error format, for requests that no protocol claims. */
export function errorResponse(status: number, error: AgentError, headers?: { readonly [name: string]: string }): HttpResponse {
  const body = { error: { code: ERRORS[error.code].face, reason: error.code, message: error.message } };
  return jsonResponse(status, JSON.stringify(body), { ...errorHeaders(error), ...headers });
}
