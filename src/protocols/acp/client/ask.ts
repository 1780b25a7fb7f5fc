import { type Call, type ErrorCode, isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { addCallHeaders } from "../../../transport/call-headers.js";
import type { HttpHeaders, HttpRequest, HttpResponse, Link } from "../../../transport/exchange.js";
import { badPeer, jsonBody, refuseRedirect } from "../../../transport/peer-answer.js";
import { makeRequest } from "../../../transport/request.js";
import { errorFromWire } from "../errors.js";

/** The target of a request. */
export interface Question {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** JSON. */
  readonly body?: Maybe<string>;
  readonly headers?: Maybe<HttpHeaders>;
  readonly accept?: Maybe<string>;
  /** The meaning of an HTTP status for this operation. */
  readonly meant?: Maybe<ReadonlyMap<number, ErrorCode>>;
}

export const EVENTS = "text/event-stream, application/json;q=0.9";

export function requestFor({ method, url, body, headers, accept = "application/json" }: Question, call: Call): HttpRequest {
  const all: Record<string, Maybe<string>> = { accept, ...headers };
  addCallHeaders(all, call);
  if (body === undefined) return makeRequest({ method, url, headers: all, call });
  all["content-type"] = "application/json";
  return makeRequest({ method, url, headers: all, body, call });
}

/** Sends one request and reads the JSON response. Throws the error of the peer. */
export async function ask(link: Link, question: Question, call: Call): Promise<unknown> {
  return answerIn(await link.exchange(requestFor(question, call)), question);
}

export function answerIn(response: HttpResponse, { meant }: Pick<Question, "meant">): JsonObject {
  checkStatus(response, meant);
  const body = jsonBody(response);
  if (isObject(body)) return body;
  throw badPeer(response, body === undefined ? "the answer is empty" : "the answer is not a JSON object");
}

/** Throws the error of an unsuccessful response. */
export function checkStatus(response: HttpResponse, meant: Maybe<ReadonlyMap<number, ErrorCode>>): void {
  refuseRedirect(response);
  if (response.status < 300) return;
  let body: unknown;
  try {
    body = jsonBody(response);
  } catch {
    // Not JSON: use the HTTP status alone.
  }
  throw errorFromWire(body, response.status, response.headers, meant);
}
