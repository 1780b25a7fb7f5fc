import { type AgentError, ERRORS } from "../envelope/index.js";
import type { Response } from "./exchange.js";

const JSON_HEADERS = Object.freeze({ "content-type": "application/json" });

export function jsonResponse(status: number, text: string, headers?: { readonly [name: string]: string }): Response {
  return { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }, body: text };
}

/** The house's own error form, for requests that no protocol claims: the seed's face, our code, and what happened. */
export function errorResponse(status: number, error: AgentError, headers?: { readonly [name: string]: string }): Response {
  const body = { error: { code: ERRORS[error.code].face, reason: error.code, message: error.message } };
  return jsonResponse(status, JSON.stringify(body), { ...error.facts.head, ...headers });
}
