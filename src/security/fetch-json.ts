import { AgentError, CancelSource, type Maybe } from "../envelope/index.js";
import { wholeBody } from "../transport/body.js";
import type { HttpHeaders, Link } from "../transport/exchange.js";
import { readJson } from "../transport/json.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { type PoolOptions, poolLink } from "../transport/node/index.js";
import { makeRequest } from "../transport/request.js";

/** One request to a configured server. */
export interface JsonRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Maybe<HttpHeaders>;
  readonly body?: Maybe<string>;
  /** From the first byte of the request to the last of the response. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** The transport. Default: a separate connection. */
  readonly link?: Maybe<Link>;
  /** For a separate connection: TLS trust settings. */
  readonly tls?: PoolOptions["tls"];
}

export interface JsonResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Undefined if the response is not JSON. */
  readonly json: unknown;
}

/** Sends one request: no redirects, no retries, bounded time and size. */
export async function fetchJson(request: JsonRequest): Promise<JsonResponse> {
  const { method, url, body, timeoutMs, maxBytes, tls } = request;
  const limits = { ...DEFAULT_LIMITS, bodyBytes: maxBytes };
  const link = request.link ?? poolLink({ limits, connectTimeoutMs: timeoutMs, tls });
  const cancel = new CancelSource();
  const timer = setTimeout(
    () => cancel.cancel(new AgentError("deadline", `${hostOf(url)} did not respond within ${timeoutMs} ms`, { sent: "maybe" })),
    timeoutMs,
  );
  try {
    const headers = { accept: "application/json", ...request.headers };
    const response = await link.exchange(makeRequest({ method, url, headers, body, cancel }));
    const bytes = await wholeBody(response.body, maxBytes);
    return { status: response.status, headers: response.headers, json: jsonOrNothing(bytes) };
  } finally {
    clearTimeout(timer);
    if (request.link === undefined) await link.close();
  }
}

function jsonOrNothing(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes, DEFAULT_LIMITS);
  } catch {
    return undefined;
  }
}

/** Host and port, for messages: a URL may contain secrets in its query. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "an address that is not a URL";
}
