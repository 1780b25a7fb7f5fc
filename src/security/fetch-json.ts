import { AgentError, CancelSource, type Maybe } from "../envelope/index.js";
import { wholeBody } from "../transport/body.js";
import type { HttpHeaders, Link } from "../transport/exchange.js";
import { readJson } from "../transport/json.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { type PoolOptions, poolLink } from "../transport/node/index.js";
import { makeRequest } from "../transport/request.js";

/** One question to a server that somebody configured by its URL. */
export interface JsonQuestion {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Maybe<HttpHeaders>;
  readonly body?: Maybe<string>;
  /** From the first byte of the question to the last of the answer. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** What carries it. Default: a connection of its own. */
  readonly link?: Maybe<Link>;
  /** For a connection of its own: whom to believe who the server is. */
  readonly tls?: PoolOptions["tls"];
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Undefined where the answer is not JSON. */
  readonly json: unknown;
}

/** Asks once: no redirect is followed, nothing is tried again, and both time and size are bounded. */
export async function fetchJson(question: JsonQuestion): Promise<JsonAnswer> {
  const { method, url, body, timeoutMs, maxBytes, tls } = question;
  const limits = { ...DEFAULT_LIMITS, bodyBytes: maxBytes };
  const link = question.link ?? poolLink({ limits, connectTimeoutMs: timeoutMs, tls });
  const cancel = new CancelSource();
  const timer = setTimeout(
    () => cancel.cancel(new AgentError("deadline", `${hostOf(url)} did not answer within ${timeoutMs} ms`, { sent: "maybe" })),
    timeoutMs,
  );
  try {
    const headers = { accept: "application/json", ...question.headers };
    const response = await link.exchange(makeRequest({ method, url, headers, body, cancel }));
    const bytes = await wholeBody(response.body, maxBytes);
    return { status: response.status, headers: response.headers, json: jsonOrNothing(bytes) };
  } finally {
    clearTimeout(timer);
    if (question.link === undefined) await link.close();
  }
}

function jsonOrNothing(bytes: Uint8Array): unknown {
  try {
    return readJson(bytes, DEFAULT_LIMITS.jsonDepth);
  } catch {
    return undefined;
  }
}

/** Host and port, for people: an address may have secrets in its query. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "an address that is not a URL";
}
